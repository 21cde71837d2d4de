import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { errorClasses, PtywrightError } from "@ptywright/sdk";

/** The part of JSON Schema that the model uses. */
interface Schema {
  $ref?: string;
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  items?: Schema;
  minItems?: number;
  maxItems?: number;
  required?: string[];
  properties?: Record<string, Schema>;
  additionalProperties?: boolean | Schema;
  oneOf?: Schema[];
  not?: Schema;
  dependentRequired?: Record<string, string[]>;
  dependentSchemas?: Record<string, Schema>;
}

/** What is said beside the rules. */
const NOTES = ["description", "default", "examples", "format", "x-since", "x-stability"];

const model = JSON.parse(readFileSync(process.env["MODEL"] ?? "", "utf8")) as {
  $defs: Record<string, Schema>;
  errors: Record<string, { code: number }>;
  methods: Record<string, unknown>;
};
const vectors = JSON.parse(readFileSync(process.env["VECTORS"] ?? "", "utf8")) as {
  def: string;
  case: string;
  valid: boolean;
  value: unknown;
}[];

function kindOf(v: unknown): string {
  if (v === null) return "null";
  if (Array.isArray(v)) return "array";
  return Number.isInteger(v) ? "integer" : typeof v;
}

/** Whether a value fits a schema. A rule that is not known here is an error. */
function fits(s: Schema, v: unknown): boolean {
  return (Object.keys(s) as (keyof Schema)[]).every((rule) => {
    if (NOTES.includes(rule)) return true;
    const check = rules[rule];
    assert.ok(check, `the judge does not know the rule ${rule}`);
    return check(s, v);
  });
}

const isObject = (v: unknown): v is Record<string, unknown> => kindOf(v) === "object";
const has = (v: object, name: string) => Object.hasOwn(v, name);
const unless = <T>(is: (v: unknown) => v is T, then: (s: Schema, v: T) => boolean) =>
  (s: Schema, v: unknown) => !is(v) || then(s, v);
const isText = (v: unknown) => typeof v === "string";
const isNumber = (v: unknown) => typeof v === "number";
const isList = (v: unknown): v is unknown[] => Array.isArray(v);

const rules: Record<keyof Schema, (s: Schema, v: unknown) => boolean> = {
  $ref: (s, v) => fits(model.$defs[s.$ref?.replace("#/$defs/", "") ?? ""] ?? { not: {} }, v),
  type: (s, v) =>
    [s.type].flat().some((t) => t === kindOf(v) || (t === "number" && kindOf(v) === "integer")),
  const: (s, v) => s.const === v,
  enum: (s, v) => s.enum?.includes(v) ?? false,
  minimum: unless(isNumber, (s, v) => v >= (s.minimum ?? 0)),
  maximum: unless(isNumber, (s, v) => v <= (s.maximum ?? 0)),
  minLength: unless(isText, (s, v) => [...v].length >= (s.minLength ?? 0)),
  maxLength: unless(isText, (s, v) => [...v].length <= (s.maxLength ?? 0)),
  pattern: unless(isText, (s, v) => new RegExp(s.pattern ?? "", "u").test(v)),
  items: unless(isList, (s, v) => v.every((e) => fits(s.items ?? {}, e))),
  minItems: unless(isList, (s, v) => v.length >= (s.minItems ?? 0)),
  maxItems: unless(isList, (s, v) => v.length <= (s.maxItems ?? 0)),
  required: unless(isObject, (s, v) => (s.required ?? []).every((name) => has(v, name))),
  properties: unless(isObject, (s, v) =>
    Object.entries(s.properties ?? {}).every(([name, p]) => !has(v, name) || fits(p, v[name])),
  ),
  additionalProperties: unless(isObject, (s, v) =>
    Object.entries(v).every(([name, e]) => {
      if (s.properties && has(s.properties, name)) return true;
      const more = s.additionalProperties;
      return typeof more === "boolean" ? more : fits(more ?? {}, e);
    }),
  ),
  oneOf: (s, v) => s.oneOf?.filter((one) => fits(one, v)).length === 1,
  not: (s, v) => !fits(s.not ?? {}, v),
  dependentRequired: unless(isObject, (s, v) =>
    Object.entries(s.dependentRequired ?? {}).every(
      ([name, others]) => !has(v, name) || others.every((other) => has(v, other)),
    ),
  ),
  dependentSchemas: unless(isObject, (s, v) =>
    Object.entries(s.dependentSchemas ?? {}).every(([name, more]) => !has(v, name) || fits(more, v)),
  ),
};

test("every vector is judged as it says", () => {
  assert.ok(vectors.length > 5000);
  const wrong = vectors.filter(
    (v) => fits(model.$defs[v.def] ?? { not: {} }, v.value) !== v.valid,
  );
  assert.deepEqual(wrong, []);
});

test("every method and every reason is in the vectors", () => {
  const text = JSON.stringify(vectors);
  for (const name of [...Object.keys(model.methods), ...Object.keys(model.errors)]) {
    assert.ok(text.includes(`"${name}"`), name);
  }
});

test("every reason has a class", () => {
  assert.deepEqual(Object.keys(errorClasses), Object.keys(model.errors).sort());
  for (const Class of Object.values(errorClasses)) assert.ok(Class.prototype instanceof PtywrightError);
});

test("errors are printed as the command line prints them", () => {
  const cases = JSON.parse(readFileSync(process.env["EVIDENCE"] ?? "", "utf8")) as {
    error: { code: number; message: string; data: { reason: string } };
    text: string;
  }[];
  assert.ok(cases.length > 3);
  for (const { error, text } of cases) {
    const Class = errorClasses[error.data.reason as "timeout"];
    const e = new Class(error.message, { ...error, data: error.data as never });
    assert.equal(String(e), text);
    assert.equal(e.message, text);
  }
});
