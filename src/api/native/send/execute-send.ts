import type { App } from "../../../db/state/records.ts";
import type { SendResult, SendService } from "../../../push/send-service.ts";
import { unwrapOrThrow } from "../../shared/management.ts";

/** As much of a handler's context as a send needs. */
interface SendContext {
  readonly request: Request;
  readonly server: { timeout(request: Request, seconds: number): void } | null;
  readonly set: { status?: number | string; readonly headers: Record<string, string | number> };
}

/** A send that was taken: its end, or nothing where the answer does not wait for it. */
export interface AcceptedSend {
  readonly campaignId: string;
  readonly ended: SendResult | undefined;
}

/**
 * Starts a send and waits for its end; with `Prefer: respond-async`, or when the process is stopped meanwhile, the answer
 * is 202 before that.
 *
 * @param body as it was sent
 * @throws ApiError for what the service refuses
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
  // Clients may take longer to answer than an idle connection may live.
  else server?.timeout(request, 0);
  const ended = isAsync ? undefined : await result;
  if (!ended) set.status = 202;
  return { campaignId, ended };
}

/** Whether `respond-async` is among the preferences of a Prefer header (RFC 7240). */
function prefersAsync(header: string | null): boolean {
  const preferences = (header ?? "").split(",").map((preference) => preference.split(/[;=]/, 1)[0] ?? "");
  return preferences.some((name) => name.trim().toLowerCase() === "respond-async");
}
