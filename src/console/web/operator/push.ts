import type { NoticeChanged, PushSubscriptionRequest } from "../../../notices/report.ts";
import { RequestFailure } from "../data/request.ts";
import * as msg from "../text/en/operator/notices.ts";
import { operatorChange, operatorRequest } from "./session.ts";

const WORKER = "/console/sw.js";
const SCOPE = "/console/";

/** Why this browser cannot show notices; undefined where it can. */
export function pushObstacle(isOn: boolean): string | undefined {
  if (!isOn) return msg.pushIsOff;
  if (!window.isSecureContext) return msg.pushNeedsHttps;
  if (!("serviceWorker" in navigator && "PushManager" in window && "Notification" in window))
    return /iPhone|iPad/.test(navigator.userAgent) ? msg.pushNeedsHomeScreen : msg.pushIsMissing;
  return Notification.permission === "denied" ? msg.pushIsBlocked : undefined;
}

/** Subscribes this browser under the node's key. Asks its user. @throws RequestFailure in words for the page */
export async function subscribe(): Promise<PushSubscriptionRequest> {
  if ((await Notification.requestPermission()) !== "granted") throw failure(msg.pushIsBlocked);
  const { push_key: key = "" } = await operatorRequest<NoticeChanged>(
    operatorChange("notice", { action: "key" }),
  );
  try {
    const { pushManager } = await register();
    await (await pushManager.getSubscription())?.unsubscribe();
    const made = await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key });
    const { endpoint = "", keys } = made.toJSON();
    return { kind: "push", endpoint, keys: { p256dh: keys?.p256dh ?? "", auth: keys?.auth ?? "" } };
  } catch (cause) {
    throw failure(msg.pushServiceFailed(cause instanceof Error ? cause.message : ""));
  }
}

/** Resolves once the worker runs. */
async function register(): Promise<ServiceWorkerRegistration> {
  await navigator.serviceWorker.register(WORKER, { scope: SCOPE });
  return navigator.serviceWorker.ready;
}

const failure = (message: string) => new RequestFailure({ status: 0, message });
