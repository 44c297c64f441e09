import { decodeMessage, type SignedMessage } from "../../protocol/message/signed-message.ts";
import { UserDataType, UserNameProof } from "../../protocol/wire/generated/message.ts";
import type { UpstreamClient } from "../calls/client.ts";

/**
 * Reads live proofs: those that the upstream lists for an fid, and the proof of each of `names` that is not among them,
 * which may belong to another fid. Returns each once, by its canonical bytes in hex.
 *
 * @param names the names by which the fid is known: those of its user data, and those of its stored proofs.
 * @param decode returns the proof in `bytes`; undefined leaves it out.
 */
export async function readLiveProofs(
  client: Pick<UpstreamClient, "usernameProofs" | "usernameProof">,
  fid: number,
  names: Iterable<string>,
  decode: (bytes: Uint8Array) => UserNameProof | undefined,
): Promise<Map<string, UserNameProof>> {
  const proofs = new Map<string, UserNameProof>();
  const received = new Set<string>();
  const add = (bytes: Uint8Array): void => {
    const raw = bytes.toHex();
    const proof = received.has(raw) ? undefined : decode(bytes);
    received.add(raw);
    if (proof) proofs.set(UserNameProof.encode(proof).finish().toHex(), proof);
  };
  for (const bytes of await client.usernameProofs(fid)) add(bytes);
  const listed = new Set([...proofs.values()].map(({ name }) => nameText(name)));
  for (const name of new Set(names)) {
    const bytes = listed.has(name) ? undefined : await client.usernameProof(Buffer.from(name));
    if (bytes) add(bytes);
  }
  return proofs;
}

export function nameText(name: Uint8Array): string {
  return Buffer.from(name).toString();
}

/** Returns the names in the USERNAME messages of a page from the upstream. */
export function usernamesIn(page: readonly Uint8Array[]): string[] {
  return page.flatMap((bytes) => {
    const message = decodeMessage(bytes);
    return (message.ok && usernameOf(message.value)) || [];
  });
}

/** Returns the name that a USERNAME message shows; undefined for any other message, and for one that unsets the name. */
export function usernameOf({ data: { body } }: SignedMessage): string | undefined {
  const isUsername =
    body?.$case === "userDataBody" && body.value.type === UserDataType.USER_DATA_TYPE_USERNAME;
  return isUsername && body.value.value !== "" ? body.value.value : undefined;
}
