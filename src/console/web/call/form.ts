import type { Call } from "../data/call.ts";
import * as msg from "../text/en/tools/call.ts";
import type { JsonObject, JsonValue, OperationForm, OperationLine, Schema } from "./operation.ts";

/** The form of an operation: a field per parameter and body member, as declared in its schemas. */

type Place = "path" | "query" | "body";
type Kind = "text" | "number" | "choice" | "list" | "json";

export interface CallField {
  /** For example `query.fid`; unique in the form. */
  readonly key: string;
  readonly name: string;
  readonly place: Place;
  readonly kind: Kind;
  readonly isRequired: boolean;
  readonly schema: Schema;
  readonly description: string | undefined;
}

/** The typed texts by field key; a field without text is left out of the call. */
export type CallTexts = Readonly<Record<string, string>>;

/** The key of the whole body, for an operation whose body is not an object. */
const WHOLE_BODY = "body.";

const isScalar = ({ type }: Schema) => type === "string" || type === "integer" || type === "number";

function kindOf(schema: Schema): Kind {
  if (schema.enum || schema.type === "boolean") return "choice";
  if (schema.type === "integer" || schema.type === "number") return "number";
  if (schema.type === "array" && schema.items && isScalar(schema.items)) return "list";
  return schema.type === "string" ? "text" : "json";
}

/** Returns what a schema allows besides null. */
const withoutNull = (schema: Schema): Schema =>
  (schema.anyOf?.length === 2 && schema.anyOf.find(({ type }) => type !== "null" && type !== undefined)) ||
  schema;

function fieldOf(
  place: Place,
  name: string,
  declared: Schema,
  isRequired: boolean,
  said?: string,
): CallField {
  const schema = withoutNull(declared);
  const description = said ?? declared.description ?? schema.description;
  return { key: `${place}.${name}`, name, place, kind: kindOf(schema), isRequired, schema, description };
}

export function fieldsOf({ parameters, body }: OperationForm): readonly CallField[] {
  const fields = parameters.flatMap(({ name, in: place, required = false, schema, description }) =>
    place === "header" ? [] : [fieldOf(place, name, schema, place === "path" || required, description)],
  );
  if (!body) return fields;
  const { properties, required = [] } = body.schema;
  if (!properties) return [...fields, fieldOf("body", "", body.schema, true)];
  const members = Object.entries(properties).map(([name, schema]) =>
    fieldOf("body", name, schema, required.includes(name)),
  );
  return [...fields, ...members];
}

/** Returns the values that a field offers; empty if it offers none. */
export const choicesOf = ({ schema }: CallField): readonly string[] =>
  schema.enum?.map(String) ?? (schema.type === "boolean" ? ["true", "false"] : []);

const SEPARATORS = /[\s,]+/;
const itemsOf = (text: string) => text.split(SEPARATORS).filter((item) => item !== "");

function textOf({ kind }: CallField, value: JsonValue): string {
  if (kind === "list" && Array.isArray(value)) return value.join(", ");
  return typeof value === "object" || kind === "json" ? JSON.stringify(value, null, 2) : String(value);
}

/** Returns the example of an operation as typed texts. */
export function exampleTexts(form: OperationForm): CallTexts {
  const texts: Record<string, string> = {};
  const examples = new Map(form.parameters.map((one) => [`${one.in}.${one.name}`, one.example]));
  const body = form.body?.example;
  const members: JsonObject =
    typeof body === "object" && !Array.isArray(body) ? ((body ?? {}) as JsonObject) : {};
  for (const field of fieldsOf(form)) {
    const example =
      field.place !== "body"
        ? examples.get(field.key)
        : field.key === WHOLE_BODY
          ? body
          : members[field.name];
    if (example !== undefined && example !== null) texts[field.key] = textOf(field, example);
  }
  return texts;
}

/** A call as in a link: method, path with query, and body. */
export interface GivenCall {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
}

const patternOf = (path: string) =>
  new RegExp(
    `^${path
      .split(/\{\w+\}/)
      .map((part) => RegExp.escape(part))
      .join("([^/]+)")}$`,
  );

/** Finds the operation of a call; undefined if the API does not have its path. */
export function operationOf(
  lines: readonly OperationLine[],
  { method, path }: GivenCall,
): OperationLine | undefined {
  const [bare = ""] = path.split("?");
  const ofMethod = lines.filter((line) => line.method === method);
  return (
    ofMethod.find((line) => line.path === bare) ?? ofMethod.find((line) => patternOf(line.path).test(bare))
  );
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Returns a given call as texts for the form of its operation. Parts that the form does not have are left out. */
export function textsOf(form: OperationForm, { path, body }: GivenCall): CallTexts {
  const [bare = "", query = ""] = path.split("?");
  const given = new URLSearchParams(query);
  const names = [...form.path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
  const values = patternOf(form.path).exec(bare)?.slice(1) ?? [];
  const members = (typeof body === "object" && body !== null ? body : {}) as JsonObject;
  const texts: Record<string, string> = {};
  for (const field of fieldsOf(form)) {
    const { place, name, key } = field;
    if (place === "path") texts[key] = decoded(values[names.indexOf(name)] ?? "");
    else if (place === "query") texts[key] = given.getAll(name).join(", ");
    else if (key === WHOLE_BODY) texts[key] = body === undefined ? "" : textOf(field, body as JsonValue);
    else if (Object.hasOwn(members, name)) texts[key] = textOf(field, members[name] ?? null);
  }
  return texts;
}

function problemOfJson(text: string): string | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch {
    return msg.thisIsNoJson;
  }
}

function problemOfNumber(schema: Schema, text: string): string | undefined {
  const value = Number(text);
  const { minimum, maximum, type } = schema;
  if (type === "integer" ? !/^-?\d+$/.test(text) : text.trim() === "" || !Number.isFinite(value))
    return type === "integer" ? msg.aWholeNumber : msg.aNumber;
  if (minimum !== undefined && value < minimum) return msg.atLeast(minimum);
  return maximum !== undefined && value > maximum ? msg.atMost(maximum) : undefined;
}

function problemOfText({ minLength = 0, maxLength, pattern }: Schema, text: string): string | undefined {
  const chars = [...text].length;
  if (chars < minLength) return msg.charactersAtLeast(minLength);
  if (maxLength !== undefined && chars > maxLength) return msg.charactersAtMost(maxLength);
  try {
    return pattern === undefined || new RegExp(pattern, "u").test(text)
      ? undefined
      : msg.itMustMatch(pattern);
  } catch {
    // The node uses another engine for the expression.
    return undefined;
  }
}

function problemOf({ kind, schema, isRequired }: CallField, text: string): string | undefined {
  if (text === "") return isRequired ? msg.required : undefined;
  if (kind === "json") return problemOfJson(text);
  if (kind === "number") return problemOfNumber(schema, text);
  if (kind === "text") return problemOfText(schema, text);
  if (kind !== "list") return undefined;
  const items = itemsOf(text);
  const { items: item = {}, minItems = 0, maxItems } = schema;
  if (items.length < minItems) return msg.valuesAtLeast(minItems);
  if (maxItems !== undefined && items.length > maxItems) return msg.valuesAtMost(maxItems);
  const check = item.type === "string" ? problemOfText : problemOfNumber;
  return items.map((one) => check(item, one)).find((problem) => problem !== undefined);
}

/** Returns what violates the document, by field. The node decides; this only reports it earlier. */
export function problemsOf(fields: readonly CallField[], texts: CallTexts): Readonly<Record<string, string>> {
  const found = fields.map((field) => [field.key, problemOf(field, texts[field.key] ?? "")]);
  return Object.fromEntries(found.filter(([, problem]) => problem !== undefined));
}

function typedValue({ kind, schema }: CallField, text: string): unknown {
  if (kind === "json") return JSON.parse(text);
  if (schema.type === "boolean") return text === "true";
  if (kind === "number" || (kind === "choice" && typeof schema.enum?.[0] === "number")) return Number(text);
  if (kind !== "list") return text;
  return schema.items?.type === "string" ? itemsOf(text) : itemsOf(text).map(Number);
}

/** Returns the call of a form without problems. */
export function callOf(form: OperationForm, texts: CallTexts): Call {
  const fields = fieldsOf(form).filter(({ key }) => (texts[key] ?? "") !== "");
  const query = new URLSearchParams();
  let path = form.path;
  const body: Record<string, unknown> = {};
  for (const field of fields) {
    const { place, name, key, kind } = field;
    const text = texts[key] ?? "";
    if (place === "path") path = path.replace(`{${name}}`, () => encodeURIComponent(text));
    else if (place === "query") query.set(name, kind === "list" ? itemsOf(text).join(",") : text);
    else body[name] = typedValue(field, text);
  }
  const search = query.toString().replaceAll("%2C", ",");
  const whole = fields.find(({ key }) => key === WHOLE_BODY);
  return {
    method: form.method as Call["method"],
    path: search === "" ? path : `${path}?${search}`,
    ...(form.body && { body: whole ? body[""] : body }),
    ...(form.isStream && { isStream: true }),
  };
}
