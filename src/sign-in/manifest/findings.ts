import { APP_FIELDS } from "./app-rules.ts";
import type { EnvelopeVerdict } from "./envelope.ts";

export const SEVERITIES = ["error", "warning", "info"] as const;

/** One thing about a manifest that its author should know. An `error` makes clients refuse it. */
export interface Finding {
  readonly severity: (typeof SEVERITIES)[number];
  /** The member that it is about, such as `miniapp.homeUrl`; empty for the whole manifest. */
  readonly path: string;
  /** A stable name. */
  readonly code: string;
  readonly message: string;
}

type Json = Readonly<Record<string, unknown>>;

/** A manifest in its parts, and what is wrong with its form. */
export interface ReadManifest {
  /** Undefined where the manifest has none with three texts. */
  readonly association:
    | { readonly header: string; readonly payload: string; readonly signature: string }
    | undefined;
  /** `miniapp`, or `frame` of older manifests; undefined without either. */
  readonly app: Json | undefined;
  readonly findings: readonly Finding[];
}

const ASSOCIATION = "accountAssociation";

export const finding = (
  severity: Finding["severity"],
  path: string,
  code: string,
  message: string,
): Finding => ({ severity, path, code, message });

/** Reads a manifest: its form, not who signed it. */
export function readManifest(manifest: unknown, domain: string): ReadManifest {
  if (!isObject(manifest))
    return {
      association: undefined,
      app: undefined,
      findings: [finding("error", "", "not_an_object", "the manifest must be a JSON object")],
    };
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
  return { association, app, findings };
}

/** What is wrong with the account association, by its verdict. */
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

/** Hosts of the app that are not the manifest's own. */
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

/** The known members of an app, in one order. */
function canonical(app: Json): string {
  return JSON.stringify(Object.keys(APP_FIELDS).map((name) => app[name] ?? null));
}

export function hostOf(url: unknown): string | undefined {
  return typeof url === "string" ? URL.parse(url)?.hostname : undefined;
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
