/** The fields that hold a list of secrets, in the records of all dialects. */
const SECRET_LISTS: ReadonlySet<string> = new Set(["secrets", "send_secrets"]);
/** The members of a secret that are the secret. */
const TEXTS = ["value", "standard_secret"] as const;

/** Returns a response without the texts of secrets: a session may know of them, not see them. */
export function withoutSecrets(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [
      key,
      SECRET_LISTS.has(key) && Array.isArray(member) ? member.map(hidden) : withoutSecrets(member),
    ]),
  );
}

function hidden(secret: unknown): unknown {
  if (typeof secret !== "object" || secret === null) return null;
  const texts = TEXTS.filter((name) => name in secret).map((name) => [name, null]);
  return { ...secret, ...Object.fromEntries(texts) };
}
