import { Type } from "@sinclair/typebox";
import { SDK_METHODS } from "../../api/sdk-methods.ts";
import { ToolError } from "../node-call.ts";
import { type ToolContext, tool } from "../tool.ts";

const MAX_EXAMPLE_CHARS = 4_000;
const NOT_IMPLEMENTED = "501";

export const nodeTools = [
  tool({
    name: "get_node",
    title: "Get the node",
    description:
      "Says what this node is: version, network, whether its data is a demo, what it holds, how far it follows the network, and which parts do not respond.",
    input: {},
    output: {
      version: Type.String(),
      network: Type.String(),
      demo: Type.Boolean(),
      upstream: Type.Union([Type.String(), Type.Null()], {
        description: "How the node follows the network, as JSON; null if it follows none",
      }),
      rows: Type.Record(Type.String(), Type.Integer()),
      not_responding: Type.Array(Type.String()),
      not_served: Type.Array(
        Type.Object({ call: Type.String(), reason: Type.String() }, { additionalProperties: false }),
      ),
    },
    list: "not_served",
    isOwnText: true,
    async run(_, { getRoot }) {
      const status = await getRoot<NativeStatus>("/status");
      const document = await getRoot<ApiDocument>("/openapi.json");
      const notServed = Object.entries(document.paths).flatMap(([path, methods]) =>
        Object.entries(methods).flatMap(([method, { responses = {} }]) =>
          isServed(responses)
            ? []
            : [
                {
                  call: `${method.toUpperCase()} ${path}`,
                  reason: responses[NOT_IMPLEMENTED]?.description ?? "not implemented",
                },
              ],
        ),
      );
      return {
        version: status.version,
        network: status.network,
        demo: status.demo,
        upstream: status.upstream === null ? null : JSON.stringify(status.upstream),
        rows: status.index?.rows ?? {},
        not_responding: [...status.unavailable],
        not_served: notServed,
        truncated: false,
        content_is_untrusted: true,
      };
    },
  }),
  tool({
    name: "explain_call",
    title: "Explain a call",
    description:
      "Explains a call of this node's API, by its path such as GET /v2/svc/user or by a method of @neynar/nodejs-sdk such as fetchBulkUsers: parameters, refusals and an example, or that this node does not serve it.",
    input: { call: Type.String({ minLength: 1, maxLength: 256 }) },
    output: {
      call: Type.String(),
      served: Type.Union([Type.Literal("yes"), Type.Literal("depends"), Type.Literal("no")]),
      summary: Type.String(),
      parameters: Type.Array(
        Type.Object(
          { name: Type.String(), required: Type.Boolean(), description: Type.String() },
          { additionalProperties: false },
        ),
      ),
      refusals: Type.Array(
        Type.Object({ status: Type.Integer(), reason: Type.String() }, { additionalProperties: false }),
      ),
      example: Type.Union([Type.String(), Type.Null()]),
    },
    isOwnText: true,
    run: ({ call }, context) => explain(call, context),
  }),
];

interface NativeStatus {
  readonly version: string;
  readonly network: string;
  readonly demo: boolean;
  readonly unavailable: readonly string[];
  readonly upstream: unknown;
  readonly index: { readonly rows: Readonly<Record<string, number>> } | null;
}

type Responses = Readonly<
  Record<
    string,
    {
      readonly description?: string;
      readonly content?: Readonly<Record<string, { readonly example?: unknown }>>;
    }
  >
>;

interface ApiDocument {
  readonly paths: Readonly<
    Record<
      string,
      Readonly<
        Record<
          string,
          {
            readonly summary?: string;
            readonly description?: string;
            readonly parameters?: readonly {
              readonly name: string;
              readonly required?: boolean;
              readonly description?: string;
            }[];
            readonly responses?: Responses;
          }
        >
      >
    >
  >;
}

const isServed = (responses: Responses) => Object.keys(responses).some((status) => status.startsWith("2"));

async function explain(asked: string, { getRoot }: ToolContext) {
  const given = asked.trim();
  const [, method = "GET", path] =
    /^(?:([A-Za-z]+)\s+)?(\/\S*)$/.exec(
      Object.hasOwn(SDK_METHODS, given) ? (SDK_METHODS[given] ?? "") : given,
    ) ?? [];
  if (path === undefined) throw new ToolError("call is neither a path of the API nor a method of the SDK");
  const call = `${method.toUpperCase()} ${path}`;
  const { paths } = await getRoot<ApiDocument>("/openapi.json");
  const methods = Object.hasOwn(paths, path) ? paths[path] : undefined;
  const operation = methods?.[method.toLowerCase()];
  const common = { call, truncated: false, content_is_untrusted: true as const };
  if (operation === undefined) {
    const summary = methods === undefined ? "This node has no such path." : "This path has no such method.";
    return { ...common, served: "no" as const, summary, parameters: [], refusals: [], example: null };
  }
  const { responses = {}, parameters = [] } = operation;
  const [, success] = Object.entries(responses).find(([status]) => status.startsWith("2")) ?? [];
  const example = success?.content?.["application/json"]?.example;
  return {
    ...common,
    served: !isServed(responses)
      ? ("no" as const)
      : responses[NOT_IMPLEMENTED]
        ? ("depends" as const)
        : ("yes" as const),
    summary: [operation.summary, operation.description].filter((text) => text).join(". "),
    parameters: parameters.map(({ name, required = false, description = "" }) => ({
      name,
      required,
      description,
    })),
    refusals: Object.entries(responses)
      .filter(([status]) => /^[45]\d\d$/.test(status))
      .map(([status, { description = "" }]) => ({ status: Number(status), reason: description })),
    example: example === undefined ? null : JSON.stringify(example).slice(0, MAX_EXAMPLE_CHARS),
  };
}
