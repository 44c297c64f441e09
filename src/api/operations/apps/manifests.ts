import { type Static, Type } from "@sinclair/typebox";
import { ApiError } from "../../../http/errors.ts";
import { clientKeyOf, exchangeOf } from "../../../http/exchange.ts";
import { flat } from "../../../http/limits/prices.ts";
import { badRequest, choice, optional, text } from "../../../http/request/params.ts";
import { OPEN, OPEN_READ } from "../../../http/route-terms.ts";
import type { Result } from "../../../lib/result.ts";
import { userNames } from "../../../read/queries/users/users.ts";
import type { Reads } from "../../../read/run-query.ts";
import { ENVELOPE_TYPES, type EnvelopeVerdict } from "../../../sign-in/manifest/envelope.ts";
import { SEVERITIES } from "../../../sign-in/manifest/findings.ts";
import type { ManifestRefusal, ManifestReport } from "../../../sign-in/manifest/manifest-checker.ts";
import { Fid, nullable, object, UnixSecs } from "../../dialects/fields.ts";
import { topic } from "../../topic.ts";

const { op } = topic({ tag: "Mini apps", surface: "native" });

const literals = <const T extends readonly string[]>(names: T) =>
  Type.Union(names.map((name) => Type.Literal(name)));

const PARTS = ["header", "payload", "signature", "key", "domain"] as const;
const BINDINGS = ["custody", "auth_address", "app_key", "verification"] as const;

const JfsVerdict = object(
  {
    signature_valid: Type.Boolean(),
    encoding: nullable(
      Type.Union([Type.Literal("raw"), Type.Literal("legacy")], {
        description: "`legacy`: base64 of the signature's hex text",
      }),
    ),
    key_bound_by: nullable(literals(BINDINGS)),
    fid: nullable(Fid),
    type: nullable(literals(ENVELOPE_TYPES)),
    key: nullable(Type.String()),
    user: nullable(
      object({ fid: Fid, username: nullable(Type.String()), display_name: nullable(Type.String()) }),
    ),
    domain: nullable(Type.String({ description: "That the payload names" })),
    domain_matches: nullable(Type.Boolean()),
    valid: Type.Boolean({ description: "Whether all of it holds" }),
    faults: Type.Array(object({ part: literals(PARTS), message: Type.String() }), {
      description: "Each part that does not hold, with the reason",
    }),
  },
  { $id: "JfsVerdict" },
);

const ManifestReportResponse = object(
  {
    domain: Type.String(),
    fetched_at: UnixSecs("When it was fetched or checked"),
    status: nullable(Type.Integer({ description: "Of the response" })),
    redirected_to: nullable(Type.String()),
    account_association: nullable(JfsVerdict),
    manifest: Type.Unknown({ description: "As it was found" }),
    findings: Type.Array(
      object({
        severity: literals(SEVERITIES),
        path: Type.String({ description: "The member that it is about; empty for the whole" }),
        code: Type.String({ description: "A stable name" }),
        message: Type.String(),
      }),
    ),
    webhook: nullable(
      object({ url: Type.String(), is_this_node: Type.Boolean(), app_id: nullable(Type.String()) }),
    ),
  },
  { $id: "ManifestReport" },
);

const MAX_PART_CHARS = 32_768;
const part = (description: string) => Type.String({ minLength: 1, maxLength: MAX_PART_CHARS, description });

const VerifyJfsRequest = Type.Object({
  header: Type.Optional(part("base64url or base64, padded or not")),
  payload: Type.Optional(part("the same")),
  signature: Type.Optional(part("the same")),
  compact: Type.Optional(part("the three texts joined by dots, instead of them")),
  type: Type.Optional(literals(ENVELOPE_TYPES)),
});

const CheckManifestRequest = Type.Object({
  domain: Type.String({ minLength: 1, maxLength: 255 }),
  manifest: Type.Unknown(),
});

const domain = text({ description: "The host, without scheme, port and path", maxChars: 255 });
const accept = text({
  description: "`verification`: an address that the fid has verified counts as its key",
});
const assets = choice(["true", "false"], { description: "Whether the images of the manifest are asked for" });

const FETCH_UNITS = 20;

/** Checks of mini app manifests and of JSON Farcaster Signatures. Each reports the result part by part. */
export const manifestOperations = [
  op({
    id: "checkManifest",
    path: "/frame/manifest",
    summary: "What holds of the manifest of a mini app's domain",
    description:
      "Fetches `https://<domain>/.well-known/farcaster.json`. The response is 200 for a broken manifest and a domain without one, too: the findings are the result.",
    price: flat(FETCH_UNITS),
    share: "manifestChecks",
    query: { domain, accept: optional(accept), assets: optional(assets) },
    response: ManifestReportResponse,
    errors: ["tooManyRequests", "unavailable"],
    run: async ({ manifests, reads }, { query, request }) =>
      presentReport(
        reads,
        await manifests.ofDomain(query.domain, {
          acceptsVerification: acceptsVerification(query.accept),
          withAssets: query.assets === "true",
          client: clientKeyOf(exchangeOf(request)),
        }),
      ),
  }),
  op({
    id: "checkGivenManifest",
    method: "POST",
    path: "/frame/manifest/check",
    summary: "What holds of a manifest, as if a domain had it",
    access: OPEN_READ,
    query: { accept: optional(accept) },
    body: CheckManifestRequest,
    response: ManifestReportResponse,
    run: async ({ manifests, reads }, { query, body, request }) =>
      presentReport(
        reads,
        await manifests.given(body.domain, body.manifest, {
          acceptsVerification: acceptsVerification(query.accept),
          withAssets: false,
          client: clientKeyOf(exchangeOf(request)),
        }),
      ),
  }),
  op({
    id: "verifyJfs",
    method: "POST",
    path: "/jfs/verify",
    summary: "What holds of a JSON Farcaster Signature, part by part",
    access: OPEN,
    query: { accept: optional(accept) },
    body: VerifyJfsRequest,
    response: JfsVerdict,
    run: async ({ envelopes, reads }, { query, body, request }) =>
      presentVerdict(
        reads,
        await envelopes.check(envelopeOf(body), {
          domain: undefined,
          types: body.type === undefined ? ENVELOPE_TYPES : [body.type],
          acceptsVerification: acceptsVerification(query.accept),
          client: clientKeyOf(exchangeOf(request)),
        }),
      ),
  }),
];

function acceptsVerification(accepted: string | undefined): boolean {
  if (accepted !== undefined && accepted !== "verification") throw badRequest("accept must be verification");
  return accepted !== undefined;
}

function envelopeOf({ header, payload, signature, compact }: Static<typeof VerifyJfsRequest>) {
  const parts = compact?.split(".") ?? [header, payload, signature];
  const [first, second, third] = parts;
  if (parts.length !== 3 || first === undefined || second === undefined || third === undefined)
    throw badRequest("the body must have header, payload and signature, or compact with three parts");
  return { header: first, payload: second, signature: third };
}

function presentReport(
  reads: Reads,
  result: Result<ManifestReport, ManifestRefusal>,
): Static<typeof ManifestReportResponse> {
  if (!result.ok) {
    if (result.error === "busy")
      throw new ApiError("unavailable", "too many manifests are being fetched; try again");
    throw badRequest("domain must be the name of a host, such as app.example");
  }
  const { domain, fetchedAt, status, redirectedTo, association, manifest, findings, webhook } = result.value;
  return {
    domain,
    fetched_at: fetchedAt,
    status,
    redirected_to: redirectedTo,
    account_association: association && presentVerdict(reads, association),
    manifest,
    findings: [...findings],
    webhook: webhook && { url: webhook.url, is_this_node: webhook.isThisNode, app_id: webhook.appId },
  };
}

function presentVerdict({ db }: Reads, verdict: EnvelopeVerdict): Static<typeof JfsVerdict> {
  const { fid, type, key, signatureValid, encoding, keyBoundBy, domain, domainMatches, valid, faults } =
    verdict;
  const { username = null, displayName = null } = fid === null ? {} : userNames(db, fid);
  return {
    signature_valid: signatureValid,
    encoding,
    key_bound_by: keyBoundBy,
    fid,
    type,
    key,
    user: fid === null ? null : { fid, username: username || null, display_name: displayName || null },
    domain,
    domain_matches: domainMatches,
    valid,
    faults: [...faults],
  };
}
