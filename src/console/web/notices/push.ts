import type { PushSubscriptionRequest } from "../../../notices/report.ts";
import { RequestFailure } from "../data/request.ts";
import * as msg from "../text/en/operator/notices.ts";

const WORKER = "/console/sw.js";
const SCOPE = "/console/";

/** Returns why this browser cannot show notices; undefined if it can. */
export function pushObstacle(isOn: boolean): string | undefined {
  if (!isOn) return msg.pushIsOff;
  if (!window.isSecureContext) return msg.pushNeedsHttps;
  if (!("serviceWorker" in navigator && "PushManager" in window && "Notification" in window))
    return /iPhone|iPad/.test(navigator.userAgent) ? msg.pushNeedsHomeScreen : msg.pushIsMissing;
  return Notification.permission === "denied" ? msg.pushIsBlocked : undefined;
}

/**
 * Subscribes this browser with the node's key, which asks its user. A subscription with the same key stays, because other channels may
 * use it: the operator's, or those of another fid.
 *
 * @throws RequestFailure with a message for the page
 */
export async function subscribe(pushKey: () => Promise<string>): Promise<PushSubscriptionRequest> {
  if ((await Notification.requestPermission()) !== "granted") throw failure(msg.pushIsBlocked);
  const options = { userVisibleOnly: true, applicationServerKey: await pushKey() };
  try {
    const { pushManager } = await register();
    const made = await pushManager.subscribe(options).catch(async () => {
      // A subscription with another key, for example from a state that was replaced.
      await (await pushManager.getSubscription())?.unsubscribe();
      return pushManager.subscribe(options);
    });
    const { endpoint = "", keys } = made.toJSON();
    return { kind: "push", endpoint, keys: { p256dh: keys?.p256dh ?? "", auth: keys?.auth ?? "" } };
  } catch (cause) {
    throw failure(msg.pushServiceFailed(cause instanceof Error ? cause.message : ""));
  }
}

/** Resolves once the service worker runs. */
async function register(): Promise<ServiceWorkerRegistration> {
  await navigator.serviceWorker.register(WORKER, { scope: SCOPE });
  return navigator.serviceWorker.ready;
}

const failure = (message: string) => new RequestFailure({ status: 0, message });
