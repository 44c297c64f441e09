import { isObject, type Json, type JsonObject } from "./document.ts";

/** A request and its responses, recorded on the demo network. */
export interface OperationExample {
  /** Query parameters by name; a list as an array. */
  readonly query?: JsonObject;
  readonly body?: Json;
  /** Response bodies by status. */
  readonly responses: JsonObject;
}

/** Examples by operation id. */
export type OperationExamples = Readonly<Record<string, OperationExample>>;

/** Examples of the native dialect, and those of the compat dialect that differ from them. */
export interface DialectExamples {
  readonly native: OperationExamples;
  readonly compat: OperationExamples;
}

/** Returns the operation with the example added to its parameters, its request body and its responses. */
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
        const recorded = example.responses[status];
        const hasExample = recorded !== undefined && isObject(response);
        return [status, hasExample ? withContentExample(response, recorded) : response];
      }),
    );
  }
  return result;
}

/** Removes the example of a parameter that the request omits: Swagger UI sends every example that it finds. */
function withParameterExample(parameter: Json, query: JsonObject): Json {
  if (!isObject(parameter) || parameter.in !== "query") return parameter;
  const { example: _own, ...rest } = parameter;
  const value = query[String(parameter.name)];
  return value === undefined ? rest : { ...rest, example: value };
}

function withContentExample(holder: JsonObject, example: Json): JsonObject {
  const { content } = holder;
  const json = isObject(content) ? content["application/json"] : undefined;
  if (!isObject(json)) return holder;
  return { ...holder, content: { "application/json": { ...json, example } } };
}
