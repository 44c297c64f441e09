import { createSessionHeadersReader } from "../../auth/signed-headers.ts";
import type { ServiceNames } from "../../config/names.ts";
import { ApiError } from "../../http/errors.ts";
import { rawBody } from "../../http/request/body.ts";
import type { RpcClient } from "../../lib/port-rpc.ts";
import type { OperatorOp } from "./operator-requests.ts";
import { type OperatorSessions, unwrapOperator } from "./operator-sessions.ts";

/** Creates the check of requests that a session of the operator has signed. */
export function createAdmit(node: RpcClient<Pick<OperatorSessions, "admit">>, names: ServiceNames) {
  const readHeaders = createSessionHeadersReader(names);
  const hasSession = (request: Request) => request.headers.has(`${names.headerPrefix}Session`);
  return {
    hasSession,
    /** @throws ApiError for a request that no session has signed for this operation */
    async admit(request: Request, op: OperatorOp): Promise<{ readonly sessionId: string }> {
      if (!hasSession(request)) {
        const reason = `locked: \`${names.segment} console\` prints the link that opens this`;
        throw new ApiError("unauthorized", reason, { code: "operator_locked" });
      }
      const { fid, signature, ...headers } = readHeaders(request.headers);
      const { pathname, search } = new URL(request.url);
      const path = `${pathname}${search}`;
      const signed = { service: names.segment, method: request.method, path, body: rawBody(request) };
      const message = { ...headers, ...signed };
      const isOnce = op !== "console.read";
      unwrapOperator(await node.admit({ message, fid, signature, op, isOnce }));
      return headers;
    },
  };
}
