import { describe, expect, test } from "bun:test";
import { BinaryReader } from "@bufbuild/protobuf/wire";
import fc from "fast-check";
import { SignedChunk } from "../../src/protocol/wire/generated/certificate.ts";
import { Message } from "../../src/protocol/wire/generated/message.ts";
import { SnapshotPage } from "../../src/protocol/wire/generated/snapshot.ts";
import { SnapshotPages } from "../../src/trust/snapshot-page.ts";
import { ShardTrie } from "../../src/trust/trie/trie.ts";
import { ValidatorSets } from "../../src/trust/validator-sets.ts";
import { verifyChunk } from "../../src/trust/verify-block.ts";
import { expectOk } from "../support/result.ts";
import { vectorBytes, vectorJson, vectorList } from "../support/vectors.ts";
import devnet from "./vectors/devnet-validators.json";

interface PageCase {
  readonly name: string;
  readonly page: string;
  readonly expect: string;
}

/** Returns the last value of a field: a number or bytes. */
function fieldOf(bytes: Uint8Array, wanted: number): Uint8Array | number | undefined {
  const reader = new BinaryReader(bytes);
  let value: Uint8Array | number | undefined;
  while (reader.pos < reader.len) {
    const [field, wireType] = reader.tag();
    if (field !== wanted) reader.skip(wireType, field);
    else value = wireType === 2 ? reader.bytes() : reader.uint32();
  }
  return value;
}

const bytesOf = (value: Uint8Array | number | undefined) =>
  value instanceof Uint8Array ? value : new Uint8Array();

describe("a recorded or changed page of a snapshot", () => {
  for (const { name, page, expect: code } of vectorJson<{ cases: PageCase[] }>("pages.json").cases) {
    // No root binds the contents of on-chain events and fnames.
    const expected = code === "ok_unbound" ? "ok" : code;
    test(`"${name}": ${expected}`, () => {
      const decoded = SnapshotPage.decode(Buffer.from(page, "hex"));
      const pages = new SnapshotPages(decoded.entries[0]?.key[0] ?? 0);
      const accepted = pages.accept(decoded);
      const outcome = accepted.ok ? pages.end() : accepted;
      expect(outcome.ok ? "ok" : outcome.error).toBe(expected);
    });
  }

  const [recorded] = vectorJson<{ cases: PageCase[] }>("pages.json").cases;
  const page = () => SnapshotPage.decode(Buffer.from(recorded?.page ?? "", "hex"));
  const outcomeOf = (changed: SnapshotPage, virtualShard = changed.entries[0]?.key[0] ?? 0) => {
    const accepted = new SnapshotPages(virtualShard).accept(changed);
    return accepted.ok ? "ok" : accepted.error;
  };

  test("of another virtual shard is refused", () => {
    expect(outcomeOf(page(), 0)).toBe("other_virtual_shard");
  });

  test("with a message whose signature is false is refused", () => {
    const changed = page();
    const entry = changed.entries.find(({ message }) => message !== undefined);
    const message = entry?.message;
    if (!entry || !message) throw new Error("the recorded page has no message");
    entry.message = Message.encode({ ...Message.decode(message), signature: new Uint8Array(64) }).finish();
    expect(outcomeOf(changed)).toBe("bad_message");
  });

  test("with bytes that are not records is refused", () => {
    const noise = fc.option(fc.uint8Array({ maxLength: 80 }), { nil: undefined });
    fc.assert(
      fc.property(noise, noise, noise, (message, onChainEvent, proof) => {
        const [first] = page().entries;
        const entry = {
          key: first?.key ?? new Uint8Array(),
          message,
          onChainEvent,
          fnameTransfer: proof && { proof },
        };
        expect(outcomeOf({ entries: [entry], accounts: [] })).not.toBe("ok");
      }),
    );
  });

  test("with more than 1,000 entries is refused before one is read", () => {
    const { entries, accounts } = page();
    const [first] = entries;
    if (!first) throw new Error("the recorded page is empty");
    expect(outcomeOf({ entries: Array.from({ length: 1001 }, () => first), accounts })).toBe(
      "too_many_entries",
    );
  });
});

describe("the pages of a whole snapshot have the root that the validators signed", () => {
  for (const shard of [1, 2])
    test(`shard ${shard}`, () => {
      const metadata = vectorBytes(`snapshot-shard-${shard}-metadata.bin`);
      const chunk = SignedChunk.decode(bytesOf(fieldOf(metadata, 5)));
      const { root } = expectOk(verifyChunk(new ValidatorSets(devnet.sets), shard, chunk, undefined));
      const trie = new ShardTrie();
      let keys = 0;
      for (const item of vectorList(`snapshot-shard-${shard}-pages.bin`)) {
        const pages = new SnapshotPages(Number(fieldOf(item, 1) ?? 0));
        const accepted = expectOk(pages.accept(SnapshotPage.decode(bytesOf(fieldOf(item, 3)))));
        for (const account of [...accepted, ...expectOk(pages.end())]) {
          trie.add(account);
          keys += account.keys;
        }
      }
      expect(trie.root().toHex()).toBe(root.toHex());
      expect(keys).toBe(Number(fieldOf(metadata, 7)));
    });
});
