import type { App } from "../../../apps/app-store.ts";
import type { SendResult, SendService } from "../../../push/send-service.ts";
import { unwrapOrThrow } from "../../shared/management.ts";

/** The part of a handler's context that a send needs. */
interface SendContext {
  readonly request: Request;
  readonly server: { timeout(request: Request, seconds: number): void } | null;
  readonly set: { status?: number | string; readonly headers: Record<string, string | number> };
}

/** An accepted send: its result, or undefined if the response does not wait for it. */
export interface AcceptedSend {
  readonly campaignId: string;
  readonly ended: SendResult | undefined;
}

/**
 * Starts a send and waits for its result. With `Prefer: respond-async`, or if the process is stopping, it responds
 * with 202 before that.
 *
 * @param body the body as sent
 * @throws ApiError if the service rejects the send
 */
export async function executeSend(
  { request, server, set }: SendContext,
  sends: SendService,
  app: App,
  body: unknown,
): Promise<AcceptedSend> {
  const { campaignId, result } = unwrapOrThrow(await sends.start(app, body));
  const isAsync = prefersAsync(request.headers.get("prefer"));
  if (isAsync) set.headers["preference-applied"] = "respond-async";
  // Clients may take longer to respond than the idle timeout of a connection.
  else server?.timeout(request, 0);
  const ended = isAsync ? undefined : await result;
  if (!ended) set.status = 202;
  return { campaignId, ended };
}

/** Reports whether a Prefer header contains `respond-async` (RFC 7240). */
function prefersAsync(header: string | null): boolean {
  const preferences = (header ?? "").split(",").map((preference) => preference.split(/[;=]/, 1)[0] ?? "");
  return preferences.some((name) => name.trim().toLowerCase() === "respond-async");
}
