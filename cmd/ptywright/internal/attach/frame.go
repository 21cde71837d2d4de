package attach

import (
	"time"

	"github.com/ptywright/ptywright/protocol/client"
)

// A frame is what session.frame answers with form ansi.
type frame struct {
	Sequence uint64 `json:"sequence"`
	Full     bool   `json:"full"`
	Size     size   `json:"size"`
	Rows     []struct {
		Row  int    `json:"row"`
		ANSI string `json:"ansi"`
	} `json:"rows"`
	Cursor struct {
		Row     int  `json:"row"`
		Col     int  `json:"col"`
		Visible bool `json:"visible"`
		Style   int  `json:"style"`
	} `json:"cursor"`
	Modes struct {
		AlternateScreen   bool   `json:"alternate_screen"`
		ApplicationCursor bool   `json:"application_cursor"`
		ApplicationKeypad bool   `json:"application_keypad"`
		BracketedPaste    bool   `json:"bracketed_paste"`
		FocusEvents       bool   `json:"focus_events"`
		ReverseVideo      bool   `json:"reverse_video"`
		Mouse             string `json:"mouse"`
		KittyKeyboard     int    `json:"kitty_keyboard"`
		ModifyOtherKeys   int    `json:"modify_other_keys"`
	} `json:"modes"`
	Title       *string      `json:"title"`
	SecretInput bool         `json:"secret_input"`
	Bell        uint64       `json:"bell"` // the sequence at which it rang last
	Lease       *Lease       `json:"lease"`
	Exit        *client.Exit `json:"exit"`
}

// A Lease says who alone may type, as a frame and a list tell it.
type Lease struct {
	Holder string    `json:"holder"`
	Since  time.Time `json:"since"`
	Yours  bool      `json:"yours"`
}

// over reports that the program has ended and nothing more can come.
func (f *frame) over() bool { return f.Exit != nil && !f.Exit.Draining }
