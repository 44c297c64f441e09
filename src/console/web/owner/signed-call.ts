import { operations } from "../../../../client/src/operations.generated.ts";
import { type BodyOf, type QueryOf, queryString, type ResponseOf, type Route } from "../data/call.ts";
import { commandOf } from "../data/commands.ts";
import { apiPrefix } from "../page-config.ts";
import type { SignedCall } from "./operation.ts";
import { signedSnippets } from "./signed-snippets.ts";

type Sent<T> = T extends readonly (infer Item)[]
  ? readonly Sent<Item>[]
  : T extends object
    ? { readonly [Name in keyof T]: Sent<T[Name]> }
    : T;

/** The parameters of an operation. A DELETE has its id also in the body, which the wallet signs. */
interface SignedParameters<R extends Route> {
  readonly query?: QueryOf<R>;
  readonly body?: [BodyOf<R>] extends [never] ? QueryOf<R> : Sent<BodyOf<R>>;
}

/**
 * Returns the call of a signed operation, as in `signed("PUT /api_key", { body })`. Its name, its command and the type of its response
 * follow from method and path.
 */
export function signed<R extends Route>(
  route: R,
  { query, body }: SignedParameters<R> = {},
): SignedCall<ResponseOf<R>> {
  const [method = "", path = ""] = route.split(" ");
  const op = operations[route];
  if (op === undefined) throw new Error(`${route} is not a signed operation`);
  return {
    method: method as SignedCall["method"],
    path: `${apiPrefix}${path}${queryString(query ?? {})}`,
    ...(body !== undefined && { body }),
    op,
    snippets: signedSnippets,
    ...commandOf(route, { ...query, ...(body as object | undefined) }),
  };
}
