import { isNestedWithin } from "../../lib/json.ts";
import { APP_FIELDS } from "./app-rules.ts";
import type { EnvelopeVerdict } from "./envelope.ts";

export const SEVERITIES = ["error", "warning", "info"] as const;

/** One observation about a manifest, for its author. Clients reject a manifest with an `error`. */
export interface Finding {
  readonly severity: (typeof SEVERITIES)[number];
  /** Member that the finding is about, such as `miniapp.homeUrl`. Empty for the whole manifest. */
  readonly path: string;
  /** Stable identifier. */
  readonly code: string;
  readonly message: string;
}

type Json = Readonly<Record<string, unknown>>;

/** A parsed manifest, with findings about its form. */
export interface ReadManifest {
  /** The whole manifest. Null if it is nested too deep to be passed on. */
  readonly manifest: unknown;
  /** Undefined unless the manifest has an account association with all three texts. */
  readonly association:
    | { readonly header: string; readonly payload: string; readonly signature: string }
    | undefined;
  /** `miniapp`, or `frame` in older manifests. Undefined if both are missing. */
  readonly app: Json | undefined;
  readonly findings: readonly Finding[];
}

const ASSOCIATION = "accountAssociation";
/** Real manifests have up to 5 levels. Serializers, here and at clients, run out of stack at some depth. */
const MAX_LEVELS = 64;

export const finding = (
  severity: Finding["severity"],
  path: string,
  code: string,
  message: string,
): Finding => ({ severity, path, code, message });

/** Parses a manifest and checks its form. Does not check its signature. */
export function readManifest(manifest: unknown, domain: string): ReadManifest {
  const unusable = (content: unknown, code: string, message: string) => ({
    manifest: content,
    association: undefined,
    app: undefined,
    findings: [finding("error", "", code, message)],
  });
  if (!isNestedWithin(manifest, MAX_LEVELS))
    return unusable(null, "too_deep", `the manifest is nested more than ${MAX_LEVELS} levels deep`);
  if (!isObject(manifest)) return unusable(manifest, "not_an_object", "the manifest must be a JSON object");
  const findings: Finding[] = [];
  const association = associationIn(manifest[ASSOCIATION]);
  if (!association)
    findings.push(
      finding(
        "error",
        ASSOCIATION,
        "association_missing",
        "must be an object with the texts header, payload and signature",
      ),
    );
  for (const name of ["miniapp", "frame"] as const)
    if (manifest[name] !== undefined) findings.push(...findingsOfApp(manifest[name], name));
  const { miniapp, frame } = manifest;
  if (isObject(miniapp) && isObject(frame) && canonical(miniapp) !== canonical(frame))
    findings.push(
      finding("error", "frame", "frame_differs", "must be identical to miniapp where a manifest has both"),
    );
  const app = isObject(miniapp) ? miniapp : isObject(frame) ? frame : undefined;
  if (miniapp === undefined && frame === undefined)
    findings.push(finding("warning", "miniapp", "app_missing", "the manifest describes no mini app"));
  else if (miniapp === undefined)
    findings.push(
      finding("info", "frame", "frame_is_old", "newer clients read miniapp: add it beside frame"),
    );
  if (app) findings.push(...findingsOfHosts(app, miniapp === undefined ? "frame" : "miniapp", domain));
  return { manifest, association, app, findings };
}

/** Returns the findings about the account association, from its verdict. */
export function findingsOfAssociation(verdict: EnvelopeVerdict): Finding[] {
  const codes = {
    header: "header",
    payload: "payload",
    signature: "signature",
    key: "key",
    domain: "domain",
  };
  const errors = verdict.faults.map(({ part, message }) =>
    finding(
      "error",
      part === "domain" ? `${ASSOCIATION}.payload` : `${ASSOCIATION}.${part === "key" ? "header" : part}`,
      part === "key" && verdict.type === "custody" && verdict.signatureValid
        ? "custody_changed"
        : `association_${codes[part]}`,
      message,
    ),
  );
  const isLegacy = verdict.encoding === "legacy" && verdict.signatureValid;
  return isLegacy
    ? [
        ...errors,
        finding(
          "info",
          `${ASSOCIATION}.signature`,
          "legacy_encoding",
          "is base64 of a hex text, which some verifiers refuse; sign again for the raw form",
        ),
      ]
    : errors;
}

function findingsOfApp(app: unknown, path: string): Finding[] {
  if (!isObject(app)) return [finding("error", path, "not_an_object", "must be an object")];
  const findings: Finding[] = [];
  for (const [name, { rule, isRequired }] of Object.entries(APP_FIELDS)) {
    const value = Object.hasOwn(app, name) ? app[name] : undefined;
    if (value === undefined) {
      if (isRequired) findings.push(finding("error", `${path}.${name}`, "missing", "is required"));
      continue;
    }
    const wrong = rule(value);
    if (wrong !== undefined) findings.push(finding("error", `${path}.${name}`, "invalid", wrong));
  }
  const home = hostOf(app.homeUrl);
  if (app.castShareUrl !== undefined && home !== hostOf(app.castShareUrl))
    findings.push(
      finding("error", `${path}.castShareUrl`, "other_host", "must have the same host as homeUrl"),
    );
  return findings;
}

/** Returns findings about URLs of the app on other hosts than the manifest's own. */
function findingsOfHosts(app: Json, path: string, domain: string): Finding[] {
  const findings: Finding[] = [];
  const home = hostOf(app.homeUrl);
  if (home !== undefined && home !== domain)
    findings.push(
      finding(
        "warning",
        `${path}.homeUrl`,
        "other_host",
        `is on another host than the manifest (${domain}): clients may refuse it`,
      ),
    );
  const { canonicalDomain } = app;
  if (typeof canonicalDomain === "string" && canonicalDomain.toLowerCase() !== domain)
    findings.push(
      finding("info", `${path}.canonicalDomain`, "moved", "the app says that it lives at another domain"),
    );
  return findings;
}

function associationIn(value: unknown): ReadManifest["association"] {
  if (!isObject(value)) return undefined;
  const { header, payload, signature } = value;
  return typeof header === "string" && typeof payload === "string" && typeof signature === "string"
    ? { header, payload, signature }
    : undefined;
}

/** Serializes the known members of an app in a fixed order. */
function canonical(app: Json): string {
  return JSON.stringify(Object.keys(APP_FIELDS).map((name) => app[name] ?? null));
}

export function hostOf(url: unknown): string | undefined {
  return typeof url === "string" ? URL.parse(url)?.hostname : undefined;
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
