import type { Call } from "../../data/call.ts";
import { shellQuote } from "../../data/snippets.ts";
import { apiPrefix } from "../../page-config.ts";
import { audienceOf, type SendDraft, type SendProblems } from "./send-draft.ts";

const notificationOf = ({ title, body, targetUrl, uuid }: SendDraft) => ({
  title,
  body,
  target_url: targetUrl,
  ...(uuid !== undefined && { uuid }),
});

const notificationFlags = ({ title, body, targetUrl, uuid }: SendDraft) =>
  [
    ` --title ${shellQuote(title)} --body ${shellQuote(body)} --target-url ${shellQuote(targetUrl)}`,
    uuid === undefined ? "" : ` --uuid ${uuid}`,
  ].join("");

/** The filters of an audience as arguments of `app send` and `app estimate`. */
const audienceFlags = ({
  target_fids = [],
  exclude_fids = [],
  following_fid,
}: Exclude<ReturnType<typeof audienceOf>, undefined>) =>
  [
    target_fids.length > 0 ? ` --target-fids ${target_fids.join(",")}` : "",
    exclude_fids.length > 0 ? ` --exclude-fids ${exclude_fids.join(",")}` : "",
    following_fid === undefined ? "" : ` --following-fid ${following_fid}`,
  ].join("");

/** The signed read that counts the audience of the draft; undefined while the draft is invalid. */
export function estimateCall(appId: string, draft: SendDraft, problems: SendProblems) {
  const audience = audienceOf(draft, problems);
  if (!audience) return undefined;
  // The node knows who has the notification already only of one that it would send.
  const isRepeated = draft.uuid !== undefined && Object.keys(problems).length === 0;
  const notification = isRepeated ? { notification: notificationOf(draft) } : {};
  const about = isRepeated ? notificationFlags(draft) : "";
  return {
    method: "POST",
    path: `${apiPrefix}/frame/app/campaign/estimate`,
    body: { app_id: appId, ...notification, ...audience },
    op: "app.read",
    cli: `app estimate ${appId}${about}${audienceFlags(audience)}`,
  } as const satisfies Call;
}

/** The operation of a draft without problems. */
export function sendOperation(appId: string, draft: SendDraft, words: string) {
  const audience = audienceOf(draft, {}) ?? {};
  return {
    op: "app.send",
    method: "POST" as const,
    path: `${apiPrefix}/frame/app/campaign`,
    body: { app_id: appId, notification: notificationOf(draft), ...audience },
    title: "Send the notification",
    words,
    cli: `app send ${appId}${notificationFlags(draft)}${audienceFlags(audience)}`,
  };
}
