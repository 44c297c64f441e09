/** A JSON value of the document. */
export type Json = null | boolean | number | string | Json[] | JsonObject;

export interface JsonObject {
  [key: string]: Json;
}

export interface OpenApiDocument extends JsonObject {
  openapi: string;
  info: JsonObject;
  paths: JsonObject;
  components: JsonObject;
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
