package engine

import (
	"github.com/ptywright/ptywright/engine/locate"
	"github.com/ptywright/ptywright/engine/vt"
	"github.com/ptywright/ptywright/internal/tree"
)

var spotNames = map[string]Spot{"center": Center, "start": Start, "end": End}

// buttonNames are those that can be clicked and dragged with.
var buttonNames = map[string]vt.MouseButtonCode{"left": vt.MouseLeft, "middle": vt.MouseMiddle,
	"right": vt.MouseRight}

var wheelNames = map[string]vt.MouseButtonCode{"up": vt.MouseWheelUp, "down": vt.MouseWheelDown,
	"left": vt.MouseWheelLeft, "right": vt.MouseWheelRight}

// TargetShape is the JSON Schema of a [Target].
func TargetShape() map[string]any { return targetShape(nil) }

// targetShape is the shape of a target with other members beside.
func targetShape(more map[string]tree.Shape) tree.Shape {
	members := map[string]tree.Shape{
		"locator": {"$ref": "#/$defs/Locator"},
		"row":     tree.IntShape(0, MaxSide-1, "from 0, in place of locator"),
		"col":     tree.IntShape(0, MaxSide-1, "from 0, with row"),
		"at":      tree.ChoiceShape(spotNames, "which cell of the place: center (default), start or end"),
	}
	optional := []string{"locator", "row", "col", "at"}
	for name, shape := range more {
		members[name] = shape
		optional = append(optional, name)
	}
	s := tree.ObjectShape(members, optional...)
	s["oneOf"] = []any{tree.Shape{"required": []any{"locator"}}, tree.Shape{"required": []any{"row"}}}
	s["dependentRequired"] = tree.Shape{"row": []any{"col"}}
	return s
}

func modsShape() tree.Shape {
	return tree.Shape{"type": "array", "items": tree.ChoiceShape(mouseMods, "a key that is held down")}
}

func targetRef(about string) tree.Shape {
	return tree.Shape{"$ref": "#/$defs/ClickTarget", "description": about}
}

func clickShape() tree.Shape {
	return targetShape(map[string]tree.Shape{
		"button": tree.ChoiceShape(buttonNames, "left (default), middle or right"),
		"mods":   modsShape(),
		"count":  tree.IntOrShape(1, 1, MaxClicks, "2 is a double click"),
	})
}

func dragShape() tree.Shape {
	return tree.ObjectShape(map[string]tree.Shape{
		"from": targetRef("where to press"), "to": targetRef("where to release"),
		"button": tree.ChoiceShape(buttonNames, "left (default), middle or right"), "mods": modsShape(),
	}, "button", "mods")
}

func scrollShape() tree.Shape {
	return tree.ObjectShape(map[string]tree.Shape{
		"in":      targetRef("on what the wheel is turned"),
		"towards": tree.ChoiceShape(wheelNames, "down (default), up, left or right"),
		"by":      tree.IntOrShape(1, 1, MaxNotches, "notches of the wheel"), "mods": modsShape(),
	}, "towards", "by", "mods")
}

// parseTarget reads {locator} or {row, col}, and at.
func (o ActionOptions) parseTarget(v tree.Value) Target {
	v.Object("an object with locator, or with row and col")
	t := Target{At: tree.Choice(v.At("at"), spotNames, Center)}
	locator, row, col := v.At("locator"), v.At("row"), v.At("col")
	switch {
	case locator.V != nil && row.V != nil:
		row.Refuse("locator or row, not both")
	case locator.V != nil:
		col.IntOr(0, 0, MaxSide-1) // it means nothing
		t.Locator = locate.Read(locator, o.Locators)
	default:
		t.Row, t.Col = row.Int(0, MaxSide-1), col.Int(0, MaxSide-1)
	}
	return t
}

func parseMods(v tree.Value) (mods vt.Mods) {
	for _, mod := range v.At("mods").List() {
		mods |= tree.Choice(mod, mouseMods, 0)
	}
	return mods
}

func (o ActionOptions) parseClick(v tree.Value) Action {
	return Click{Target: o.parseTarget(v), Mods: parseMods(v),
		Button: tree.Choice(v.At("button"), buttonNames, vt.MouseLeft),
		Count:  v.At("count").IntOr(1, 1, MaxClicks)}
}

func (o ActionOptions) parseDrag(v tree.Value) Action {
	v.Object("an object with from and to")
	return Drag{From: o.parseTarget(v.At("from")), To: o.parseTarget(v.At("to")), Mods: parseMods(v),
		Button: tree.Choice(v.At("button"), buttonNames, vt.MouseLeft)}
}

func (o ActionOptions) parseScroll(v tree.Value) Action {
	v.Object("an object with in")
	return Scroll{In: o.parseTarget(v.At("in")), Mods: parseMods(v),
		Button: tree.Choice(v.At("towards"), wheelNames, vt.MouseWheelDown),
		By:     v.At("by").IntOr(1, 1, MaxNotches)}
}
