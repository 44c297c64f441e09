import { isObject, type Json, type JsonObject } from "./openapi-document.ts";

/** A request and its responses, as they were on the demo network. */
export interface OperationExample {
  /** Query parameters by name; a list as an array. */
  readonly query?: JsonObject;
  readonly body?: Json;
  /** Bodies by status. */
  readonly responses: JsonObject;
}

/** Examples by operation id. */
export type OperationExamples = Readonly<Record<string, OperationExample>>;

/** Examples of the service's own dialect, and those of the compat dialect that differ from them. */
export interface DialectExamples {
  readonly native: OperationExamples;
  readonly compat: OperationExamples;
}

/** The operation with the example in its parameters, its request body and its responses. */
export function withExample(operation: JsonObject, example: OperationExample): JsonObject {
  const { parameters, requestBody, responses } = operation;
  const { query = {}, body } = example;
  const result: JsonObject = { ...operation };
  if (Array.isArray(parameters))
    result.parameters = parameters.map((one) => withParameterExample(one, query));
  if (isObject(requestBody) && body !== undefined) result.requestBody = withContentExample(requestBody, body);
  if (isObject(responses)) {
    result.responses = Object.fromEntries(
      Object.entries(responses).map(([status, response]): [string, Json] => {
        const shown = example.responses[status];
        const isShown = shown !== undefined && isObject(response);
        return [status, isShown ? withContentExample(response, shown) : response];
      }),
    );
  }
  return result;
}

/** A parameter that the request leaves out has no example, not even its own: Swagger UI sends all that it finds. */
function withParameterExample(parameter: Json, query: JsonObject): Json {
  if (!isObject(parameter) || parameter.in !== "query") return parameter;
  const { examples: _own, ...rest } = parameter;
  const value = query[String(parameter.name)];
  return value === undefined ? rest : { ...rest, example: value };
}

function withContentExample(holder: JsonObject, example: Json): JsonObject {
  const { content } = holder;
  const json = isObject(content) ? content["application/json"] : undefined;
  if (!isObject(json)) return holder;
  return { ...holder, content: { "application/json": { ...json, example } } };
}
