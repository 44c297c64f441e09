import { BinaryReader } from "@bufbuild/protobuf/wire";
import { decodeMessage } from "../src/protocol/message/signed-message.ts";
import { type SnapshotEntry, SnapshotPage } from "../src/protocol/wire/generated/snapshot.ts";
import { fnameKey, keysOfSigned, onChainKey } from "../src/trust/trie-key.ts";
import { SnapshotTree } from "../test/support/upstream/snapshot-tree.ts";
import type { MadeNetwork } from "./backfill-set.ts";

/** A virtual shard of a generated network in the form in which an upstream sends it. */
export interface MadePart {
  /** Encoded pages by token. The token of the first page is "". */
  readonly pages: ReadonlyMap<string, Uint8Array>;
  /** By fid and request: frames, and their number. */
  readonly groups: ReadonlyMap<string, { readonly frames: Uint8Array; readonly items: number }>;
}

/** An entry without contents, which the caller fills in. */
export const NO_CONTENT = { message: undefined, onChainEvent: undefined, fnameTransfer: undefined };

/** Makes a virtual shard with all its pages. */
export function makePart(network: MadeNetwork, virtualShard: number, options: { names: boolean }): MadePart {
  const entries: SnapshotEntry[] = [];
  const groups = new Map<string, { frames: Uint8Array; items: number }>();
  for (const { fid, request, frames } of network.part(virtualShard)) {
    if (!options.names && request === "GetUserNameProofsByFid") continue;
    const bytes = Buffer.concat(frames);
    addEntries(entries, request, bytes);
    groups.set(`${fid} ${request}`, { frames: bytes, items: frames.length });
  }
  const tree = new SnapshotTree(entries);
  const pages = new Map<string, Uint8Array>();
  for (let token: string | undefined = ""; token !== undefined; ) {
    const page: SnapshotPage = tree.page(virtualShard, token || undefined);
    pages.set(token, SnapshotPage.encode(page).finish());
    token = page.nextPageToken;
  }
  return { pages, groups };
}

/** Adds the entries for the frames of a response. */
export function addEntries(own: SnapshotEntry[], request: string, items: Uint8Array): void {
  const reader = new BinaryReader(items);
  while (reader.pos < reader.len) {
    reader.tag();
    const bytes = reader.bytes();
    if (request.startsWith("GetOnChainEvents")) {
      const key = onChainKey(bytes);
      if (key) own.push({ ...NO_CONTENT, key, onChainEvent: bytes });
    } else if (request === "GetUserNameProofsByFid") {
      const key = fnameKey(bytes);
      if (key) own.push({ ...NO_CONTENT, key, fnameTransfer: { proof: bytes } });
    } else {
      const message = decodeMessage(bytes);
      if (!message.ok) throw new Error("the set has a malformed message");
      for (const key of keysOfSigned(message.value)) own.push({ ...NO_CONTENT, key, message: bytes });
    }
  }
}
