/** What a node posts to a client's notification URL. */
export interface PostedNotification {
  readonly notificationId: string;
  readonly title: string;
  readonly body: string;
  readonly targetUrl: string;
  readonly tokens: readonly string[];
}

/** Returns whether the JSON of a request is a notification. */
export function isPostedNotification(value: unknown): value is PostedNotification {
  if (typeof value !== "object" || value === null) return false;
  const { notificationId, title, body, targetUrl, tokens } = value as Record<string, unknown>;
  const isText = [notificationId, title, body, targetUrl].every((field) => typeof field === "string");
  return isText && Array.isArray(tokens) && tokens.every((token) => typeof token === "string");
}
