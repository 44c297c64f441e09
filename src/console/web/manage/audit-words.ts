/** What an entry of the audit log says happened, as the beginning of a sentence. */
const WORDS: Readonly<Record<string, string>> = {
  "app.create": "A mini app was registered",
  "app.update": "A mini app was changed",
  "app.delete": "A mini app was deleted",
  "app.rotate_secret": "A mini app got a new send secret",
  "webhook.create": "A webhook was made",
  "webhook.update": "A webhook was changed",
  "webhook.delete": "A webhook was deleted",
  "webhook.rotate_secret": "A webhook got a new secret",
  "api_key.create": "An API key was made",
  "api_key.update": "An API key was changed",
  "api_key.delete": "An API key was deleted",
  "api_key.rotate_secret": "An API key got a new secret",
  "session.create": "A session was started",
  "session.delete": "A session was ended",
  "signer.create": "A signer was made",
  "signer.request": "A user was asked to approve a signer",
  "signer.approve": "A user approved a signer",
  "signer.import": "A signer was imported",
  "signer.export": "The private key of a signer was shown",
  "signer.delete": "A signer was erased",
};

/** Says what happened; an action that this page does not know is named. */
export function auditWords(action: string): string {
  if (Object.hasOwn(WORDS, action)) return WORDS[action] ?? action;
  const [kind, what = ""] = action.split(".", 2);
  return kind === "write" ? `A message was signed: ${what.replaceAll("_", " ")}` : action;
}
