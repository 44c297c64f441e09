import { afterAll, beforeAll, expect, test } from "bun:test";
import { fromHex, type Hex } from "../../../src/protocol/validate/eth.ts";
import { keyAddedEvent } from "../../support/envelopes.ts";
import { transferEvent } from "../../support/events.ts";
import { accountRecords } from "../../support/node.ts";
import { custody, OTHER, post, startSignInApi } from "../../support/sign-in.ts";
import publicManifests from "./public-manifests.json";

/** Manifests and associations that apps have published, in public repositories, each signed by its owner. */
const { manifests, associations } = publicManifests;
type Association = (typeof associations)[number];

const partOf = (part: string) => JSON.parse(Buffer.from(part, "base64url").toString()) as never;
const headerOf = ({ header }: Association): { fid: number; type: "custody" | "auth"; key: Hex } =>
  partOf(header);
const domainOf = ({ payload }: Association): string => (partOf(payload) as { domain: string }).domain;

let api: Awaited<ReturnType<typeof startSignInApi>>;

/** Each key is that of its fid, as the chain had it when the manifest was published. */
beforeAll(async () => {
  api = await startSignInApi();
  const all = [...manifests.flatMap(({ accountAssociation: one }) => (one ? [one] : [])), ...associations];
  for (const [at, { fid, type, key }] of new Map(
    all.map((one) => [headerOf(one).fid, headerOf(one)] as const),
  )
    .values()
    .toArray()
    .entries()) {
    api.node.ingestAll(accountRecords(fid));
    const place = { block: 3_000_000 + at };
    const address = fromHex(key);
    api.node.ingestEvent(
      type === "custody"
        ? transferEvent(fid, custody.address, address, place)
        : keyAddedEvent(fid, address, place, { keyType: 2, requestFid: OTHER }),
    );
  }
});
afterAll(() => api[Symbol.asyncDispose]());

interface Report {
  readonly account_association: { readonly encoding: string; readonly key_bound_by: string } | null;
  readonly findings: readonly { readonly severity: string; readonly path: string; readonly code: string }[];
}

const OLD = "frame: frame_is_old";
const LEGACY = "accountAssociation.signature: legacy_encoding";
const ELSEWHERE = (app: string) => `${app}.webhookUrl: other_node`;

test("check 24: published manifests hold, in both encodings, with what clients may trip over", async () => {
  const found: Record<string, readonly string[]> = {};
  for (const manifest of manifests) {
    const { accountAssociation: association } = manifest;
    const domain = association ? domainOf(association) : "111words.vercel.app";
    const report = (await post(api, "/v2/svc/frame/manifest/check", { domain, manifest }))
      .body as unknown as Report;
    found[domain] = report.findings.map(({ severity, path, code }) =>
      severity === "info" ? `${path}: ${code}` : `${severity} ${path}: ${code}`,
    );
    if (association)
      expect(report.account_association).toMatchObject({
        valid: true,
        signature_valid: true,
        domain_matches: true,
        key_bound_by: headerOf(association).type === "custody" ? "custody" : "auth_address",
      });
  }
  expect(found).toEqual({
    "quote.flick.ing": [LEGACY, OLD, ELSEWHERE("frame")],
    "web3radio.xyz": [LEGACY, OLD, "warning frame.homeUrl: other_host"],
    "2048tx.vercel.app": [ELSEWHERE("miniapp")],
    "buster-mkt.vercel.app": [LEGACY, OLD, ELSEWHERE("frame")],
    "attn.ink": [],
    "qbase.tech": [OLD, ELSEWHERE("frame")],
    "basescopes.xyz": [],
    "meme-vibe.vercel.app": [LEGACY, OLD, ELSEWHERE("frame")],
    "0xneged.github.io": [LEGACY, OLD, ELSEWHERE("frame")],
    "111words.vercel.app": ["error accountAssociation: association_missing", OLD],
  });
});

test("check 23: published associations are valid, but for one of a guide, whose signature is of another payload", async () => {
  for (const association of associations) {
    const { body } = await post(api, "/v2/svc/jfs/verify", association);
    const isOfGuide = domainOf(association) === "app.example.com";
    expect(body).toMatchObject({
      valid: !isOfGuide,
      signature_valid: !isOfGuide,
      domain: domainOf(association),
    });
  }
});
