/** The numbers that stand for the common link types in `links.type`. Any other type is stored as its text. */
export const LinkType = { Follow: 1, Block: 2 } as const;

/** Returns the value of `links.type` for a link type of the protocol. */
export function storedLinkType(type: string): number | string {
  if (type === "follow") return LinkType.Follow;
  return type === "block" ? LinkType.Block : type;
}

/** Returns the link type of the protocol for a value of `links.type`. */
export function linkTypeOf(stored: number | string): string {
  if (stored === LinkType.Follow) return "follow";
  return stored === LinkType.Block ? "block" : String(stored);
}
