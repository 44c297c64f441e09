/** What a call's form knows about an operation: its part of the OpenAPI document, as returned by `/console/api/operation`. */

export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;
export interface JsonObject {
  readonly [name: string]: JsonValue;
}

/** The parts of JSON Schema that a form uses. */
export interface Schema {
  readonly type?: string;
  readonly format?: string;
  readonly description?: string;
  readonly enum?: readonly (string | number)[];
  readonly default?: JsonValue;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly pattern?: string;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly anyOf?: readonly Schema[];
}

export interface OperationLine {
  readonly id: string;
  readonly method: string;
  /** As in the document: `/v2/svc/user`, `/v2/svc/frame/notifications/{app_id}`. */
  readonly path: string;
  readonly summary: string;
  readonly tag: string;
}

export interface Parameter {
  readonly name: string;
  readonly in: "query" | "path" | "header";
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
  readonly example?: JsonValue;
}

export interface OperationForm extends OperationLine {
  readonly description?: string;
  readonly access: "open" | "key" | "signed" | "session" | "envelope";
  /** Whether the response is an endless stream. */
  readonly isStream: boolean;
  readonly parameters: readonly Parameter[];
  readonly body?: { readonly schema: Schema; readonly example?: JsonValue };
}
