import { type AnyElysia, Elysia } from "elysia";
import type { ServiceNames } from "../../config/names.ts";
import { errorKinds } from "../errors.ts";
import type { JsonObject, OpenApiDocument } from "./document.ts";
import type { DialectExamples } from "./examples.ts";
import { publishOpenApi } from "./publish.ts";

const errorSchema: JsonObject = {
  type: "object",
  description: "Any error",
  properties: { message: { type: "string", description: "Human-readable description of the error" } },
  required: ["message"],
  additionalProperties: false,
};

function errorResponses(): JsonObject {
  const content = (message: string): JsonObject => ({
    "application/json": { schema: { $ref: "#/components/schemas/Error" }, example: { message } },
  });
  const entries = Object.entries(errorKinds).map(([name, kind]): [string, JsonObject] => {
    const { message } = kind;
    const description = message.charAt(0).toUpperCase() + message.slice(1);
    return [name, "isOfRuntime" in kind ? { description } : { description, content: content(message) }];
  });
  return Object.fromEntries(entries);
}

function securitySchemes({ headerPrefix, domainName, signedOpType, segment }: ServiceNames): JsonObject {
  const signed = (suffix: string, description: string): JsonObject => ({
    type: "apiKey",
    in: "header",
    name: headerPrefix + suffix,
    description,
  });
  return {
    signedFid: signed("Fid", "The acting fid, decimal"),
    signedOp: signed("Op", "Name of the operation, for example `webhook.create`"),
    signedAt: signed("Signed-At", "Unix seconds at signing"),
    signedNonce: signed("Nonce", "0x and 32 random bytes in hex; each nonce is valid for one request"),
    signedSignature: signed(
      "Signature",
      `0x and the 65 byte EIP-712 signature, by the fid's custody address, of \`${signedOpType}\` in the domain ` +
        `\`${domainName}\`, version 1, chain 10: op (string), fid (uint64), signedAt (uint256), nonce (bytes32), ` +
        "requestHash (bytes32, the keccak256 of the raw body)",
    ),
    session: signed("Session", "The id of a session, whose key signs in place of the custody address"),
    sessionSignature: signed(
      "Signature",
      `0x and the 64 byte Ed25519 signature, by the key of the session, of these lines joined by LF: \`${segment}-session-v1\`, ` +
        "the session's id, the method, the path with its query from `/v2/` on, op, signedAt, nonce in lower case, " +
        "and the SHA-256 of the raw body in hex. Valid for 60 seconds",
    ),
    apiKey: {
      type: "apiKey",
      in: "header",
      name: "x-api-key",
      description:
        "An API key of the fid, with the scope of the route; for notifications also an unexpired send secret of the app",
    },
    signedEnvelope: {
      type: "http",
      scheme: "JSON-Farcaster-Signature",
      description:
        "The body itself is a JSON Farcaster Signature: header, payload and signature, each base64url",
    },
  };
}

/** The parts of the OpenAPI document that the routes do not declare. */
export interface ApiDocumentation {
  readonly examples: (names: ServiceNames) => DialectExamples;
  /** A path item for each event kind that is delivered to webhooks, by name. */
  readonly webhooks: (names: ServiceNames) => JsonObject;
}

const generatorPath = "/generated";

/**
 * Returns the OpenAPI document of an app's routes. @elysiajs/swagger generates it; `publishOpenApi` cleans it up. The
 * plugin runs on a separate app, because the page that it adds loads scripts from another host.
 */
export async function openApiDocument(options: {
  app: AnyElysia;
  names: ServiceNames;
  /** Additional prefixes of the API, whose operations get their own ids and tags. */
  compatPrefixes: readonly string[];
  version: string;
  documentation: ApiDocumentation;
}): Promise<OpenApiDocument> {
  const { app, names, compatPrefixes, version } = options;
  // Imported here because loading it takes time at startup, and only requests for the document need it.
  const { swagger } = await import("@elysiajs/swagger");
  const documentation = {
    info: {
      title: `${names.capitalised} API`,
      version,
      description:
        "Reads of Farcaster data from local indexes, signed management of mini apps and webhooks, and mini-app " +
        "notifications. A trailing slash in a path is ignored; every error is `{ message }`.",
    },
    servers: [{ url: "/", description: "This server" }],
    components: {
      schemas: { Error: errorSchema },
      responses: errorResponses(),
      securitySchemes: securitySchemes(names),
    },
  };
  const generator = new Elysia()
    // The plugin's option has the type of OpenAPI 3.0, but the plugin copies it unchanged.
    .use(swagger({ path: "/unused", specPath: generatorPath, documentation: documentation as object }))
    .use(app);
  const response = await generator.handle(new Request(`http://localhost${generatorPath}`));
  const { examples, webhooks } = options.documentation;
  return publishOpenApi((await response.json()) as OpenApiDocument, {
    basePath: names.basePath,
    compatPrefixes,
    examples: examples(names),
    webhooks: webhooks(names),
  });
}
