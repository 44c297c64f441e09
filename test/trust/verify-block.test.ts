import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { blockHash } from "../../src/protocol/message/message-hash.ts";
import {
  SignedBlock,
  SignedBlockHeader,
  SignedChunk,
  SignedShardHeader,
} from "../../src/protocol/wire/generated/certificate.ts";
import { FarcasterNetwork } from "../../src/protocol/wire/generated/message.ts";
import { type ValidatorSet, ValidatorSets } from "../../src/trust/validator-sets.ts";
import { type VerifiedHead, verifyBlock, verifyChunk } from "../../src/trust/verify-block.ts";
import { vectorJson, vectorList } from "../support/vectors.ts";
import devnet from "./vectors/devnet-validators.json";

const DEVNET = FarcasterNetwork.FARCASTER_NETWORK_DEVNET;
const devnetSets = new ValidatorSets(devnet.sets);

interface BlockCase {
  readonly name: string;
  readonly kind: "block" | "chunk";
  readonly value: string;
  readonly previous?: string;
  readonly sets?: readonly ValidatorSet[];
  readonly shard: number;
  readonly expect: string;
}
const { cases } = vectorJson<{ cases: BlockCase[] }>("blocks.json");

describe("a recorded or tampered block", () => {
  for (const vector of cases) {
    const { name, kind, value, sets, shard, expect: code } = vector;
    // The root of the state refuses it, not the certificate.
    const expected = code === "ok_but_root" ? "ok" : code;
    test(`${kind} "${name}": ${expected}`, () => {
      const validators = sets ? new ValidatorSets(sets) : devnetSets;
      const bytes = Buffer.from(value, "hex");
      const verified =
        kind === "block"
          ? verifyBlock(validators, DEVNET, SignedBlock.decode(bytes), headBefore(vector))
          : verifyChunk(validators, shard, SignedChunk.decode(bytes), headBefore(vector));
      expect(verified.ok ? "ok" : verified.error.code).toBe(expected);
    });
  }

  test("names the network: a block of another one is refused", () => {
    const block = cases.find(({ kind, expect }) => kind === "block" && expect === "ok");
    const bytes = Buffer.from(block?.value ?? "", "hex");
    const mainnet = FarcasterNetwork.FARCASTER_NETWORK_MAINNET;
    expect(verifyBlock(devnetSets, mainnet, SignedBlock.decode(bytes), undefined)).toEqual({
      ok: false,
      error: { code: "wrong_network" },
    });
  });

  test("signed by validators and a stranger shows that the set has changed, signed by strangers only does not", () => {
    const known = cases.find(({ name }) => name === "5 of 7 and a stranger");
    const strangers = cases.find(({ name }) => name === "unknown signer");
    const outcome = ({ value = "", sets }: Partial<BlockCase> = {}) =>
      verifyChunk(
        sets ? new ValidatorSets(sets) : devnetSets,
        1,
        SignedChunk.decode(Buffer.from(value, "hex")),
        undefined,
      );
    expect(outcome(known)).toMatchObject({ error: { code: "unknown_signer", uncertified: { height: 30 } } });
    expect(outcome(strangers)).toEqual({ ok: false, error: { code: "unknown_signer" } });
  });

  test("with 10,000 signatures is refused before one is verified", () => {
    const chunk = SignedChunk.decode(Buffer.from(cases[0]?.value ?? "", "hex"));
    const [signature] = chunk.commits?.signatures ?? [];
    if (!chunk.commits || !signature) throw new Error("the recorded chunk is not signed");
    const commits = { ...chunk.commits, signatures: Array.from({ length: 10_000 }, () => signature) };
    expect(verifyChunk(devnetSets, 1, { ...chunk, commits }, undefined)).toMatchObject({
      error: { code: "too_many_signatures" },
    });
  });

  test("with a changed bit is refused, or is the same block in another encoding", () => {
    const bytes = Buffer.from(cases[0]?.value ?? "", "hex");
    const encoded = SignedChunk.encode(SignedChunk.decode(bytes)).finish();
    const original = verifiedOrMalformed(encoded);
    expect(original?.ok).toBe(true);
    fc.assert(
      fc.property(fc.nat({ max: encoded.length * 8 - 1 }), (bit) => {
        const changed = encoded.slice();
        changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
        const outcome = verifiedOrMalformed(changed);
        // A bit of a tag can add an unknown field, or one with its default value, which no hash contains.
        if (outcome?.ok) expect<unknown>(outcome).toEqual(original);
      }),
    );
  });
});

function verifiedOrMalformed(bytes: Uint8Array) {
  let chunk: SignedChunk;
  try {
    chunk = SignedChunk.decode(bytes);
  } catch {
    return undefined;
  }
  return verifyChunk(devnetSets, 1, chunk, undefined);
}

/** Returns the head that a recorded block leaves, without verifying it. A fork has another hash. */
function headBefore({ kind, previous }: BlockCase): Pick<VerifiedHead, "height" | "hash"> | undefined {
  if (previous === undefined) return undefined;
  const isFork = previous.startsWith("fork:");
  const bytes = Buffer.from(previous.replace("fork:", ""), "hex");
  const head = kind === "block" ? headOfBlock(bytes) : headOfChunk(bytes);
  if (isFork) head.hash.reverse();
  return head;
}

function headOfBlock(bytes: Uint8Array): Pick<VerifiedHead, "height" | "hash"> {
  const header = SignedBlockHeader.create(SignedBlock.decode(bytes).header);
  return {
    height: header.height?.blockNumber ?? 0,
    hash: blockHash(SignedBlockHeader.encode(header).finish()),
  };
}

function headOfChunk(bytes: Uint8Array): Pick<VerifiedHead, "height" | "hash"> {
  const header = SignedShardHeader.create(SignedChunk.decode(bytes).header);
  return {
    height: header.height?.blockNumber ?? 0,
    hash: blockHash(SignedShardHeader.encode(header).finish()),
  };
}

interface ExpectedChains {
  readonly [chain: string]: { readonly last: number; readonly last_hash: string };
}

describe("a recorded chain is verified from genesis to its last hash", () => {
  const networks = [
    { name: "one validator", folder: "", sets: devnetSets },
    {
      name: "four validators of which one never signs",
      folder: "four-validators/",
      sets: new ValidatorSets(vectorJson<{ sets: ValidatorSet[] }>("four-validators/validators.json").sets),
    },
  ];
  for (const { name, folder, sets } of networks) {
    for (const shard of [0, 1, 2]) {
      test(`shard ${shard} of ${name}`, () => {
        const chain = vectorList(`${folder}chain-shard-${shard}.bin`);
        const expected = vectorJson<ExpectedChains>(`${folder}expected.json`)[`chain_shard_${shard}`];
        let head: VerifiedHead | undefined;
        for (const bytes of chain) {
          const verified =
            shard === 0
              ? verifyBlock(sets, DEVNET, SignedBlock.decode(bytes), head)
              : verifyChunk(sets, shard, SignedChunk.decode(bytes), head);
          if (!verified.ok) throw new Error(`${verified.error.code} after ${head?.height}`);
          head = verified.value;
        }
        expect(head?.height).toBe(expected?.last);
        expect(head?.hash.toHex()).toBe(expected?.last_hash);
      });
    }
  }
});
