import { FormatRegistry, type TLiteral, type TSchema, Type } from "@sinclair/typebox";
import {
  isCidr,
  isHost,
  isHttpUrlOrEmpty,
  isNodeUrlOrEmpty,
  isOriginOrStar,
  isPublicUrlOrEmpty,
} from "../formats.ts";
import { isPostgresUrlOrEmpty } from "../postgres-url.ts";

// Besides JSON Schema's own annotations there is one: `rule` describes valid values. `secretSettings` names the settings that are masked.

FormatRegistry.Set("config-host", isHost);
FormatRegistry.Set("config-cidr", isCidr);
FormatRegistry.Set("config-http-url", isHttpUrlOrEmpty);
FormatRegistry.Set("config-node-url", isNodeUrlOrEmpty);
FormatRegistry.Set("config-origin", isOriginOrStar);
FormatRegistry.Set("config-public-url", isPublicUrlOrEmpty);
FormatRegistry.Set("config-postgres-url", isPostgresUrlOrEmpty);
export const MAX_URL_CHARS = 2048;
export const MAX_PATH_CHARS = 1024;
const MAX_LISTED_FIDS = 10_000;
/** One petabyte, more than SQLite can store in one file. */
export const MAX_INDEX_BYTES = 1_000_000_000_000_000;

export const integer = (minimum: number, maximum: number) =>
  Type.Integer({ minimum, maximum, rule: `an integer from ${minimum} to ${maximum}` });

export const flag = () => Type.Boolean({ rule: "true or false" });

export const domains = () =>
  Type.Array(
    Type.String({
      pattern: "^(\\*\\.)?[a-z0-9]([a-z0-9.-]{0,252}[a-z0-9])?(:[0-9]{1,5})?$",
      rule: 'a domain such as "app.example", or "*.example" for those below it',
    }),
    {
      maxItems: 1000,
      uniqueItems: true,
      rule: 'a list of at most 1000 different entries, each a domain such as "app.example", or "*.example" for those below it',
    },
  );

export const fidList = () =>
  Type.Array(integer(1, Number.MAX_SAFE_INTEGER), {
    maxItems: MAX_LISTED_FIDS,
    rule: `a list of at most ${MAX_LISTED_FIDS} fids, each a positive integer`,
  });

export const port = () => integer(0, 65_535);

export const host = () => Type.String({ format: "config-host", rule: "an IP address or a host name" });

export const networks = () =>
  Type.Array(Type.String({ format: "config-cidr", rule: 'a network such as "10.0.0.0/8"' }), {
    maxItems: 256,
    rule: 'a list of at most 256 networks such as "10.0.0.0/8"',
  });

export const urlOrEmpty = () =>
  Type.String({
    format: "config-http-url",
    maxLength: MAX_URL_CHARS,
    rule: `empty or an http or https URL of at most ${MAX_URL_CHARS} characters`,
  });

export const text = (pattern: string, rule: string, maxLength?: number) =>
  Type.String({ pattern, ...(maxLength === undefined ? {} : { maxLength }), rule });

export const credential = () =>
  Type.String({
    pattern: "^[\\x21-\\x7e]{0,4096}$",
    rule: "empty or at most 4096 printable ASCII characters without spaces",
  });

export const section = <Keys extends Record<string, TSchema>>(keys: Keys) =>
  Type.Object(keys, { additionalProperties: false });

type Literals<Names extends readonly string[]> = { -readonly [At in keyof Names]: TLiteral<Names[At]> };

export const oneOf = <const Names extends readonly string[]>(...names: Names) =>
  Type.Union([...(names.map((name) => Type.Literal(name)) as Literals<Names>)], {
    rule: `${names.length > 1 ? "one of " : ""}${names.map((name) => `"${name}"`).join(", ")}`,
  });

export const path = () =>
  Type.String({
    pattern: "^[^\\u0000-\\u001f\\u007f]*$",
    maxLength: MAX_PATH_CHARS,
    rule: `empty or a path of at most ${MAX_PATH_CHARS} characters without control characters`,
  });
