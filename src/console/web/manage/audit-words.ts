import * as msg from "../text/en/manage/manage.ts";

/** Returns what happened according to an entry of the audit log, as the beginning of a sentence. */
export const AUDIT_WORDS: Readonly<Record<string, string>> = {
  "app.create": msg.aMiniAppWasRegistered,
  "app.update": msg.aMiniAppWasChanged,
  "app.delete": msg.aMiniAppWasDeleted,
  "app.rotate_secret": msg.aMiniAppGotANew,
  "webhook.create": msg.aWebhookWasCreated,
  "webhook.update": msg.aWebhookWasChanged,
  "webhook.delete": msg.aWebhookWasDeleted,
  "webhook.rotate_secret": msg.aWebhookGotANewSecret,
  "api_key.create": msg.anApiKeyWasCreated,
  "api_key.update": msg.anApiKeyWasChanged,
  "api_key.delete": msg.anApiKeyWasDeleted,
  "api_key.rotate_secret": msg.anApiKeyGotANew,
  "session.create": msg.aSessionWasStarted,
  "session.delete": msg.aSessionWasEnded,
  "signer.create": msg.aSignerWasCreated,
  "signer.request": msg.aUserWasAskedToApprove,
  "signer.approve": msg.aUserApprovedASigner,
  "signer.import": msg.aSignerWasImported,
  "signer.export": msg.thePrivateKeyOfASigner,
  "signer.delete": msg.aSignerWasErased,
  "notice_channel.create": msg.aChannelWasAdded,
  "notice_channel.update": msg.aChannelWasChanged,
  "notice_channel.delete": msg.aChannelWasDeleted,
  "notice_channel.test": msg.aChannelWasTested,
  "login_client.create": msg.aLoginClientWasRegistered,
  "login_client.update": msg.aLoginClientWasChanged,
  "login_client.delete": msg.aLoginClientWasDeleted,
  "ban.add": msg.aUserWasBanned,
  "ban.remove": msg.aBanWasLifted,
  "mute.add": msg.aUserWasMuted,
  "mute.remove": msg.aMuteWasEnded,
  "incident.ack": msg.anIncidentWasAcknowledged,
};

/** Returns what happened; an action that this page does not know is shown by name. */
export function auditWords(action: string): string {
  if (Object.hasOwn(AUDIT_WORDS, action)) return AUDIT_WORDS[action] ?? action;
  const [kind, what = ""] = action.split(".", 2);
  return kind === "write" ? msg.aMessageWasSigned(what.replaceAll("_", " ")) : action;
}
