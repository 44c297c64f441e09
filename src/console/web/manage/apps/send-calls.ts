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

/** The signed read that counts the audience of the draft; undefined while the draft is invalid. */
export function estimateCall(appId: string, draft: SendDraft, problems: SendProblems) {
  const audience = audienceOf(draft, problems);
  if (!audience) return undefined;
  // The node knows who has the notification already only of one that it would send.
  const isSendable = Object.keys(problems).length === 0;
  const notification = draft.uuid !== undefined && isSendable ? { notification: notificationOf(draft) } : {};
  const { target_fids = [], exclude_fids = [], following_fid } = audience;
  const filters = [
    target_fids.length > 0 ? ` --target-fids ${target_fids.join(",")}` : "",
    exclude_fids.length > 0 ? ` --exclude-fids ${exclude_fids.join(",")}` : "",
    following_fid === undefined ? "" : ` --following-fid ${following_fid}`,
  ].join("");
  return {
    method: "POST",
    path: `${apiPrefix}/frame/app/campaign/estimate`,
    body: { app_id: appId, ...notification, ...audience },
    op: "app.read",
    cli: `app estimate ${appId}${filters}`,
  } as const satisfies Call;
}

/** The operation of a draft without problems. */
export function sendOperation(appId: string, draft: SendDraft, words: string) {
  const estimate = estimateCall(appId, draft, {});
  const { title, body, targetUrl, uuid } = draft;
  const text = ` --title ${shellQuote(title)} --body ${shellQuote(body)} --target-url ${shellQuote(targetUrl)}`;
  return {
    op: "app.send",
    method: "POST" as const,
    path: `${apiPrefix}/frame/app/campaign`,
    body: { app_id: appId, notification: notificationOf(draft), ...audienceOf(draft, {}) },
    title: "Send the notification",
    words,
    cli: `${(estimate?.cli ?? "").replace("app estimate", "app send")}${text}${uuid === undefined ? "" : ` --uuid ${uuid}`}`,
  };
}
