import { expect } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Configuration, NeynarAPIClient } from "@neynar/nodejs-sdk";
import { Ajv, type ValidateFunction } from "ajv";
import axios, { type AxiosInstance, isAxiosError } from "axios";
import { createGenerator, type Schema } from "ts-json-schema-generator";

/** The client library that most apps use, and its published types. */

const SDK = dirname(Bun.resolveSync("@neynar/nodejs-sdk/package.json", import.meta.dir));

export type SdkMethod = {
  [M in keyof NeynarAPIClient]: NeynarAPIClient[M] extends (...args: never[]) => Promise<unknown> ? M : never;
}[keyof NeynarAPIClient];

/** The SDK's client of a node; only the base path is changed. */
export function sdkClient(
  url: string,
  options: { readonly apiKey?: string; readonly axiosInstance?: AxiosInstance } = {},
): NeynarAPIClient {
  const { apiKey = "NO_KEY", axiosInstance } = options;
  const config = new Configuration({ apiKey, basePath: url });
  return new NeynarAPIClient(config, axiosInstance ? { axiosInstance } : {});
}

/** The status and the body of the error with which a call of the SDK fails. */
export async function sdkError(call: Promise<unknown>): Promise<{ status: number; body: unknown }> {
  const outcome = await call.then(
    (value) => new Error(`it resolved: ${JSON.stringify(value)}`),
    (error: unknown) => error,
  );
  // If the SDK's own interceptor fails at the body, this is a TypeError without a status.
  if (!isAxiosError(outcome) || !outcome.response) throw outcome;
  return { status: outcome.response.status, body: outcome.response.data };
}

/** An axios instance that records its requests and responses. */
export function recordingAxios() {
  const calls: { method: string; path: string; status: number; body: unknown }[] = [];
  const instance = axios.create();
  instance.interceptors.response.use((response) => {
    const { config, request, status, data } = response;
    // The path as sent, with doubled slashes and without the query.
    const path: string = request.path.replace(/\?.*/, "");
    calls.push({ method: config.method ?? "", path, status, body: data });
    return response;
  });
  return { instance, calls };
}

/** Every method of the SDK's generated API that sends a request, with its method and its path on the node. */
export function sdkRequests(): { name: string; method: string; path: string }[] {
  const folder = join(SDK, "build/api/apis");
  const request = /^ {8}(\w+): async \(.*\n[\s\S]*?localVarPath = `([^`]+)`[\s\S]*?method: '([A-Z]+)'/gm;
  return readdirSync(folder)
    .filter((file) => file.endsWith(".js"))
    .flatMap((file) =>
      [...readFileSync(join(folder, file), "utf8").matchAll(request)].map(
        ([, name = "", path = "", method = ""]) => ({ name, method, path }),
      ),
    );
}

/** The name of the type that each method of the SDK's client returns. */
function promisedTypes(): ReadonlyMap<string, string> {
  const declarations = readFileSync(join(SDK, "build/clients/NeynarAPIClient.d.ts"), "utf8");
  const method = /^ {4}(\w+)\((?:[\s\S]*?)\): Promise<(\w+)>;/gm;
  return new Map([...declarations.matchAll(method)].map(([, name = "", type = ""]) => [name, type]));
}

/** JSON Schema of the SDK's types, which are generated from the OpenAPI description of that API. */
function sdkSchema(): Schema {
  const schema = createGenerator({
    path: join(SDK, "build/api/models/index.d.ts"),
    tsconfig: join(import.meta.dir, "sdk-types.tsconfig.json"),
    type: "*",
    skipTypeCheck: true,
    additionalProperties: true,
    jsDoc: "none",
  }).createSchema("*");
  const { definitions = {} } = schema;
  // The generator of the SDK's types combines the two kinds of embeds with "and"; in the description they are alternatives.
  for (const [name, cast] of [
    ["Embed", "EmbedCast"],
    ["EmbedDeep", "EmbedCastDeep"],
  ] as const) {
    definitions[name] = {
      anyOf: [{ $ref: "#/definitions/EmbedUrl" }, { $ref: `#/definitions/${cast}` }],
    };
  }
  return schema;
}

// Runs before the tests, because it takes longer than their timeout.
const ajv = new Ajv({ strict: false, allErrors: true }).addSchema(sdkSchema(), "sdk");
const types = promisedTypes();

function validatorOf(type: string): ValidateFunction {
  const validate = ajv.getSchema(`sdk#/definitions/${type}`);
  if (!validate) throw new Error(`the SDK has no type ${type}`);
  return validate;
}

/** Fails unless a response has the type that the SDK's method declares. */
export function expectPromised(method: SdkMethod, body: unknown): void {
  const validate = validatorOf(types.get(method) ?? method);
  validate(body);
  const errors = (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
  expect([...new Set(errors), ...formatErrors(body, "")]).toEqual([]);
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const TIMES = /(^|_)(timestamp|at|expiry)$/;
const ADDRESSES = /^(custody_address|eth_address(es)?|verifications)$/;
const FIDS = /(^|_)fids?$/;

/** Rules of the description beyond the types: dates are ISO 8601, fids integers, addresses lower-case hex. */
function formatErrors(value: unknown, path: string): string[] {
  if (Array.isArray(value)) return value.flatMap((item, at) => formatErrors(item, `${path}/${at}`));
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) => {
    const here = `${path}/${key}`;
    const items: unknown[] = Array.isArray(item) ? item : [item];
    const faulty = items.filter((each) => {
      if (each === null || typeof each === "object") return false;
      if (TIMES.test(key)) return typeof each !== "string" || !TIME.test(each);
      if (FIDS.test(key)) return !Number.isInteger(each);
      return ADDRESSES.test(key) && !/^0x[0-9a-f]{40}$/.test(String(each));
    });
    const errors = faulty.map((each) => `${here} has no format of the description: ${JSON.stringify(each)}`);
    return [...errors, ...formatErrors(item, here)];
  });
}
