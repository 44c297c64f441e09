import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { encodeHeader, encodePayload, encodeSignature } from "@farcaster/jfs";
import { domainManifestSchema } from "@farcaster/miniapp-core";
import fc from "fast-check";
import { createOutboundClient, type OutboundClient } from "../../../src/net/client.ts";
import { createUrlGuard } from "../../../src/net/guard.ts";
import { fromHex } from "../../../src/protocol/validate/eth.ts";
import { readManifest } from "../../../src/sign-in/manifest/findings.ts";
import type { TestApi } from "../../support/api.ts";
import { createCertificateAuthority } from "../../support/certificates.ts";
import { transferEvent } from "../../support/events.ts";
import { makeWallet, type TestWallet } from "../../support/messages.ts";
import { type Receiver, startReceiver } from "../../support/receiver.ts";
import {
  addressOf,
  authWallet,
  custody,
  PERSON,
  post,
  signText,
  startSignInApi,
} from "../../support/sign-in.ts";

const DOMAIN = "app.example";
const PATH = "/.well-known/farcaster.json";

function association(domain: string) {
  const header = encodeHeader({ fid: PERSON, type: "custody", key: addressOf(custody) });
  const payload = encodePayload({ domain });
  return { header, payload, signature: encodeSignature(fromHex(signText(`${header}.${payload}`))) };
}
const app = {
  version: "1",
  name: "Bread club",
  iconUrl: `https://${DOMAIN}/icon.png`,
  homeUrl: `https://${DOMAIN}/`,
};
const manifest = { accountAssociation: association(DOMAIN), miniapp: app };

/** A manifest with lists that are nested too deep for a recursive serializer. */
const deep = (levels: number) => `{"miniapp":{"name":${"[".repeat(levels)}${"]".repeat(levels)}}}`;

/** The response of each host. */
const SITES: Readonly<Record<string, (path: string) => Response>> = {
  "app.example": (path) =>
    path === "/icon.png"
      ? new Response(null, { headers: { "content-type": "image/png" } })
      : Response.json(manifest),
  "text.example": () => new Response("<html>"),
  "large.example": () => new Response(new Uint8Array(2 * 1024 * 1024)),
  "deep.example": () => new Response(deep(400_000)),
  "missing.example": () => new Response("", { status: 404 }),
  "hosted.example": () => redirect("https://app.example/.well-known/farcaster.json"),
  "inward.example": () => redirect("https://internal.example/.well-known/farcaster.json"),
  "plain.example": () => redirect("http://app.example/.well-known/farcaster.json"),
  "port.example": () => redirect("https://app.example:8443/.well-known/farcaster.json"),
  "twice.example": () => redirect("https://hosted.example/.well-known/farcaster.json"),
  "found.example": () => new Response(null, { status: 302, headers: { location: "https://app.example/" } }),
};
const redirect = (location: string) => new Response(null, { status: 307, headers: { location } });

let receiver: Receiver;
let api: TestApi;
beforeAll(async () => {
  const authority = createCertificateAuthority();
  receiver = startReceiver({
    tls: authority.issue([...Object.keys(SITES), "internal.example"]),
    respond: ({ headers, path }) => SITES[headers.get("host")?.split(":")[0] ?? ""]?.(path) ?? new Response(),
  });
  const guard = createUrlGuard({
    allowCidrs: ["127.0.0.1/32"],
    allowHttp: false,
    resolve: async (name) => [name === "internal.example" ? "10.0.0.1" : "127.0.0.1"],
  });
  const client = createOutboundClient({ guard, ca: authority.ca });
  // The sites of this test listen on another port than 443.
  const onPort: OutboundClient = {
    request: (call) =>
      client.request({ ...call, url: call.url.replace(/^(https:\/\/[^/:]+)\//, `$1:${receiver.port}/`) }),
  };
  api = await startSignInApi({ manifestClient: onPort });
});
afterAll(async () => {
  await api[Symbol.asyncDispose]();
  await receiver[Symbol.asyncDispose]();
});

interface Report {
  readonly status: number | null;
  readonly redirected_to: string | null;
  readonly account_association: { readonly valid: boolean } | null;
  readonly manifest: unknown;
  readonly findings: readonly { readonly severity: string; readonly path: string; readonly code: string }[];
  readonly webhook: object | null;
}

const of = async (domain: string, query = "") => {
  const { status, body } = await api.get(`/frame/manifest?domain=${domain}${query}`);
  expect(status).toBe(200);
  return body as unknown as Report;
};
const given = async (content: unknown, domain = DOMAIN) =>
  (await post(api, "/v2/svc/frame/manifest/check", { domain, manifest: content })).body as unknown as Report;
const codes = ({ findings }: Report) => findings.map(({ path, code }) => `${path}: ${code}`);

describe("check 24: a manifest of a domain", () => {
  test("that holds has no findings; images are asked for on request, and the response is kept", async () => {
    const before = receiver.requests.length;
    expect(await of(DOMAIN)).toMatchObject({
      status: 200,
      redirected_to: null,
      account_association: { valid: true, key_bound_by: "custody", fid: PERSON, domain_matches: true },
      manifest,
      findings: [],
      webhook: null,
    });
    expect((await of(DOMAIN, "&assets=true")).findings).toEqual([]);
    expect(receiver.requests.slice(before).map(({ method, path }) => `${method} ${path}`)).toEqual([
      `GET ${PATH}`,
      "HEAD /icon.png",
    ]);
  });

  test.each([
    ["text.example", ": not_json"],
    ["large.example", ": too_large"],
    ["deep.example", ": too_deep"],
    ["missing.example", ": status"],
    ["internal.example", ": refused"],
    ["inward.example", ": refused"],
    ["plain.example", ": redirect"],
    ["port.example", ": redirect"],
    ["twice.example", ": redirect"],
    ["found.example", ": redirect"],
  ])("at %s is a finding, not an error", async (domain, code) => {
    const report = await of(domain);
    expect(codes(report)).toContain(code);
    expect(report.manifest).toBeNull();
  });

  test("behind one redirect of 307 counts for the domain that was asked", async () => {
    const report = await of("hosted.example");
    expect(report.redirected_to).toBe("https://app.example/.well-known/farcaster.json");
    expect(codes(report)).toEqual([
      ": redirected",
      "accountAssociation.payload: association_domain",
      "miniapp.homeUrl: other_host",
    ]);
  });

  test.each(["127.0.0.1", "app.example:8443", "https://app.example", "localhost", "a b"])(
    "returns 400 for %s, which is not a domain",
    async (domain) => {
      expect((await api.get(`/frame/manifest?domain=${encodeURIComponent(domain)}`)).status).toBe(400);
    },
  );
});

describe("a manifest that is given", () => {
  test.each<[string, unknown, readonly string[]]>([
    ["no object", [], [": not_an_object"]],
    ["nothing in it", {}, ["accountAssociation: association_missing", "miniapp: app_missing"]],
    [
      "www. in the payload",
      { ...manifest, accountAssociation: association(`www.${DOMAIN}`) },
      ["accountAssociation.payload: association_domain"],
    ],
    [
      "an old frame alone",
      { accountAssociation: manifest.accountAssociation, frame: app },
      ["frame: frame_is_old"],
    ],
    ["a frame that differs", { ...manifest, frame: { ...app, name: "Other" } }, ["frame: frame_differs"]],
    ["no name", { ...manifest, miniapp: { ...app, name: undefined } }, ["miniapp.name: missing"]],
    ["a long name", { ...manifest, miniapp: { ...app, name: "x".repeat(33) } }, ["miniapp.name: invalid"]],
    [
      "another host to share to",
      { ...manifest, miniapp: { ...app, castShareUrl: "https://b.example/" } },
      ["miniapp.castShareUrl: other_host"],
    ],
    [
      "a webhook elsewhere",
      { ...manifest, miniapp: { ...app, webhookUrl: "https://b.example/hook" } },
      ["miniapp.webhookUrl: other_node"],
    ],
  ])("with %s", async (_, content, expected) => {
    expect(codes(await given(content))).toEqual([...expected]);
  });

  const signedBy = (type: "custody" | "auth" | "app_key", wallet: TestWallet, key = addressOf(wallet)) => {
    const header = encodeHeader({ fid: PERSON, type, key } as Parameters<typeof encodeHeader>[0]);
    const payload = encodePayload({ domain: DOMAIN });
    return { header, payload, signature: encodeSignature(fromHex(signText(`${header}.${payload}`, wallet))) };
  };
  const base64 = (part: string) => Buffer.from(part, "base64url").toString("base64");
  const hexText = (signature: string) =>
    Buffer.from(`0x${Buffer.from(signature, "base64url").toString("hex")}`).toString("base64url");
  const stranger = makeWallet("stranger");

  // What manifests in public repositories look like, signed with keys of this test.
  test.each<[string, unknown, readonly string[]]>([
    [
      "the words of a template",
      {
        ...manifest,
        accountAssociation: { header: "placeholder", payload: "placeholder", signature: "placeholder" },
      },
      ["accountAssociation.header: association_header", "accountAssociation.payload: association_domain"],
    ],
    [
      "the empty texts of a template",
      { ...manifest, accountAssociation: { header: "", payload: "", signature: "" } },
      [
        "accountAssociation.header: association_header",
        "accountAssociation.payload: association_payload",
        "accountAssociation.payload: association_domain",
        "accountAssociation.signature: association_signature",
      ],
    ],
    [
      "a header that is no JSON",
      {
        ...manifest,
        accountAssociation: {
          ...association(DOMAIN),
          header: Buffer.from('{"fid":00003}').toString("base64url"),
        },
      },
      ["accountAssociation.header: association_header"],
    ],
    [
      "the association within the app",
      { miniapp: { ...app, accountAssociation: association(DOMAIN) } },
      ["accountAssociation: association_missing"],
    ],
    [
      "an auth address in the common base64",
      {
        ...manifest,
        accountAssociation: {
          ...signedBy("auth", authWallet),
          signature: base64(signedBy("auth", authWallet).signature),
        },
      },
      [],
    ],
    [
      "the custody address as an auth address",
      { ...manifest, accountAssociation: signedBy("auth", custody) },
      [],
    ],
    [
      "an old signature, base64 of hex digits",
      {
        ...manifest,
        accountAssociation: {
          ...signedBy("custody", custody),
          signature: hexText(signedBy("custody", custody).signature),
        },
      },
      ["accountAssociation.signature: legacy_encoding"],
    ],
    [
      "an auth address of no one",
      { ...manifest, accountAssociation: signedBy("auth", stranger) },
      ["accountAssociation.header: association_key"],
    ],
    [
      "an auth address as the custody address",
      { ...manifest, accountAssociation: signedBy("custody", authWallet) },
      ["accountAssociation.header: custody_changed"],
    ],
    [
      "another key than that of the signature",
      { ...manifest, accountAssociation: signedBy("custody", stranger, addressOf(custody)) },
      ["accountAssociation.signature: association_signature"],
    ],
    [
      "a signature of a smart wallet",
      {
        ...manifest,
        accountAssociation: {
          ...signedBy("auth", authWallet),
          signature: Buffer.alloc(640, 1).toString("base64"),
        },
      },
      ["accountAssociation.signature: association_signature"],
    ],
    [
      "members of other platforms",
      { ...manifest, baseBuilder: { allowedAddresses: [] }, miniapp: { ...app, extra: 1 } },
      [],
    ],
    [
      "an app over http",
      { ...manifest, miniapp: { ...app, homeUrl: `http://${DOMAIN}/` } },
      ["miniapp.homeUrl: invalid"],
    ],
    [
      "an app at localhost",
      { ...manifest, miniapp: { ...app, homeUrl: "http://localhost:3000" } },
      ["miniapp.homeUrl: invalid", "miniapp.homeUrl: other_host"],
    ],
  ])("with %s, as many are", async (_, content, expected) => {
    expect(codes(await given(content))).toEqual([...expected]);
  });

  test.each([
    [63, ["accountAssociation: association_missing"]],
    [64, [": too_deep"]],
    [20_000, [": too_deep"]],
  ])(
    "with %d lists in each other has a finding about its depth only above the limit",
    async (levels, expected) => {
      const content = JSON.parse(`{"x":${"[".repeat(levels)}${"]".repeat(levels)}}`);
      expect(codes(await given(content)).slice(0, 1)).toEqual([...expected]);
    },
  );

  test("whose webhook names an app that is not registered here says so", async () => {
    const webhookUrl = `${api.url}/v2/svc/frame/webhook/1111111111111111`;
    const report = await given({ ...manifest, miniapp: { ...app, webhookUrl } });
    expect(report.webhook).toEqual({ url: webhookUrl, is_this_node: true, app_id: null });
    expect(codes(report)).toContain("miniapp.webhookUrl: unknown_app");
  });

  test("check 24: after a transfer of the fid the association is dead", async () => {
    await using moved = await startSignInApi();
    moved.node.ingestEvent(
      transferEvent(PERSON, custody.address, makeWallet("new owner").address, { block: 920_000 }),
    );
    const report = (await post(moved, "/v2/svc/frame/manifest/check", { domain: DOMAIN, manifest }))
      .body as unknown as Report;
    expect(codes(report)).toEqual(["accountAssociation.header: custody_changed"]);
  });
});

test("the rules of the app are those of the official schema", () => {
  const text = fc.oneof(
    fc.string({ maxLength: 40 }),
    fc.constantFrom(
      "",
      "1",
      "next",
      "games",
      "#fff",
      "#12345G",
      "a.example",
      "x".repeat(171),
      "wow!!",
      "smile 😀",
    ),
    fc.constantFrom(
      "https://a.example/",
      "https://localhost/",
      "https://127.0.0.1/",
      "http://a.example/",
      "https://a b.example/",
    ),
  );
  const value = fc.oneof(
    text,
    fc.array(text, { maxLength: 6 }),
    fc.constantFrom(true, 0, null, ["eip155:10"], ["eip155:0"], ["back"], ["wallet"], {}),
  );
  const fields = [
    ...["version", "name", "iconUrl", "homeUrl", "imageUrl", "buttonTitle", "splashImageUrl", "webhookUrl"],
    ...["splashBackgroundColor", "subtitle", "description", "screenshotUrls", "primaryCategory", "tags"],
    ...["heroImageUrl", "tagline", "ogTitle", "ogDescription", "ogImageUrl", "noindex", "requiredChains"],
    ...["requiredCapabilities", "castShareUrl", "canonicalDomain"],
  ];
  fc.assert(
    fc.property(fc.constantFrom(...fields), value, (field, changed) => {
      const candidate = { ...manifest, miniapp: { ...app, [field]: changed } };
      const errors = readManifest(candidate, DOMAIN).findings.filter(({ severity }) => severity === "error");
      expect(errors.length === 0).toBe(domainManifestSchema.safeParse(candidate).success);
    }),
    { numRuns: 500 },
  );
});
