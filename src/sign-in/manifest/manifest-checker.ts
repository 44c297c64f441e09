import type { Admission } from "../../admission/admission.ts";
import { GenerationCache } from "../../lib/generation-cache.ts";
import { parseJsonBytes } from "../../lib/json.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import type { OutboundClient } from "../../net/client.ts";
import { type Clock, nowSecs } from "../../runtime/clock.ts";
import { normalizeDomain } from "../domain.ts";
import { IMAGE_FIELDS } from "./app-rules.ts";
import type { EnvelopeChecker, EnvelopeVerdict } from "./envelope.ts";
import { fetchManifest, imageFault } from "./fetch-manifest.ts";
import { type Finding, finding, findingsOfAssociation, readManifest } from "./findings.ts";

/** Result of checking the manifest of a domain. */
export interface ManifestReport {
  readonly domain: string;
  /** Unix seconds. */
  readonly fetchedAt: number;
  /** Status of the response. Null without one, and for a manifest that was passed in. */
  readonly status: number | null;
  readonly redirectedTo: string | null;
  /** Null if the manifest has none. */
  readonly association: EnvelopeVerdict | null;
  /** As received. Null if it is not JSON. */
  readonly manifest: unknown;
  readonly findings: readonly Finding[];
  /** URL that clients report token events to. Null if the manifest names none. */
  readonly webhook: ManifestWebhook | null;
}

export interface ManifestWebhook {
  readonly url: string;
  readonly isThisNode: boolean;
  /** Registered app that the URL belongs to. Null if none. */
  readonly appId: string | null;
}

/** Options for checking a manifest. */
export interface ManifestOptions {
  /** Whether an address that the fid has verified is accepted as its key. */
  readonly acceptsVerification: boolean;
  /** Whether to fetch the images, too. */
  readonly withAssets: boolean;
  readonly client: string;
}

/** `domain`: not a valid domain; `busy`: too many manifests are being fetched. */
export type ManifestRefusal = "domain" | "busy";

/** Checks manifests of mini apps. Whatever a domain responds with, the result is a list of findings. */
export type ManifestChecker = ReturnType<typeof createManifestChecker>;

export interface ManifestCheckerDeps {
  readonly envelopes: EnvelopeChecker;
  readonly client: OutboundClient;
  readonly admission: Pick<Admission, "budgets">;
  readonly clock: Clock;
  /** Returns the id in a URL of this node's token webhook. Undefined for a URL with another host or path. */
  readonly webhookIdOf: (url: string) => string | undefined;
  readonly isApp: (appId: string) => Promise<boolean>;
  readonly monotonicMs?: () => number;
}

const KEPT_MS = 60_000;
/** Size limit of cached manifests, in bytes. The cache may use up to twice as much. */
const MAX_KEPT_BYTES = 4 * 1024 * 1024;
const HOST = /^(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)+$/;
/** A host that consists only of digits and dots would be parsed as an IP address. */
const ADDRESS = /^[\d.]+$/;

interface Fetched {
  readonly atMs: number;
  readonly fetchedAt: number;
  readonly response: Awaited<ReturnType<typeof fetchManifest>>;
}

export function createManifestChecker(deps: ManifestCheckerDeps) {
  const { envelopes, client, admission, clock, webhookIdOf, isApp } = deps;
  const monotonicMs = deps.monotonicMs ?? (() => performance.now());
  const kept = new GenerationCache<string, Fetched>(
    MAX_KEPT_BYTES,
    ({ response }) => 256 + (response.body?.length ?? 0),
  );
  const underWay = new Map<string, Promise<Fetched>>();

  async function fetchOnce(domain: string, asker: string): Promise<Fetched | "busy"> {
    const known = kept.get(domain);
    if (known && monotonicMs() - known.atMs < KEPT_MS) return known;
    const running = underWay.get(domain);
    if (running) return running;
    const hold = admission.budgets.manifestFetches.open(asker);
    if (hold.grow(1) !== undefined) {
      hold.end();
      return "busy";
    }
    const fetching = (async () => {
      try {
        const response = await fetchManifest(client, domain, `manifest:${asker}`);
        const fetched = { atMs: monotonicMs(), fetchedAt: nowSecs(clock), response };
        kept.set(domain, fetched);
        return fetched;
      } finally {
        hold.end();
        underWay.delete(domain);
      }
    })();
    underWay.set(domain, fetching);
    return fetching;
  }

  async function webhookOf(
    app: Readonly<Record<string, unknown>> | undefined,
  ): Promise<ManifestWebhook | null> {
    const url = app?.webhookUrl;
    if (typeof url !== "string") return null;
    const id = webhookIdOf(url);
    const isKnown = id !== undefined && (await isApp(id));
    return { url, isThisNode: id !== undefined, appId: isKnown ? id : null };
  }

  async function imageFindings(
    app: Readonly<Record<string, unknown>>,
    path: string,
    asker: string,
  ): Promise<Finding[]> {
    const images = IMAGE_FIELDS.flatMap((name) => {
      const value = app[name];
      const urls = Array.isArray(value) ? value.slice(0, 3) : [value];
      return urls.filter((url) => typeof url === "string").map((url) => ({ name, url: String(url) }));
    });
    const faults = await Promise.all(
      images.map(async ({ name, url }) => ({
        name,
        fault: await imageFault(client, url, `manifest:${asker}`),
      })),
    );
    return faults.flatMap(({ name, fault }) =>
      fault === undefined ? [] : [finding("error", `${path}.${name}`, "image", fault)],
    );
  }

  async function report(
    domain: string,
    content: unknown,
    options: ManifestOptions,
  ): Promise<Pick<ManifestReport, "manifest" | "association" | "findings" | "webhook">> {
    const { manifest, association: sent, app, findings } = readManifest(content, domain);
    const { acceptsVerification, client: asker } = options;
    const association = sent
      ? await envelopes.check(sent, {
          domain,
          types: ["custody", "auth"],
          acceptsVerification,
          client: asker,
        })
      : null;
    const webhook = await webhookOf(app);
    const path = Object(manifest).miniapp === undefined ? "frame" : "miniapp";
    return {
      manifest,
      association,
      webhook,
      findings: [
        ...(association ? findingsOfAssociation(association) : []),
        ...findings,
        ...(webhook ? webhookFindings(webhook, path) : []),
        ...(app && options.withAssets ? await imageFindings(app, path, asker) : []),
      ],
    };
  }

  return {
    /** Fetches and checks the manifest of a domain. The response is cached for a minute. */
    async ofDomain(text: string, options: ManifestOptions): Promise<Result<ManifestReport, ManifestRefusal>> {
      const domain = hostnameOf(text);
      if (domain === undefined) return err("domain");
      const fetched = await fetchOnce(domain, options.client);
      if (fetched === "busy") return err("busy");
      const { status, redirectedTo, body, fault } = fetched.response;
      const head = {
        domain,
        fetchedAt: fetched.fetchedAt,
        status: status ?? null,
        redirectedTo: redirectedTo ?? null,
      };
      const redirected =
        redirectedTo === undefined
          ? []
          : [finding("info", "", "redirected", "the manifest is hosted elsewhere, by a redirect")];
      const unusable = (code: string, message: string) =>
        ok({
          ...head,
          association: null,
          manifest: null,
          webhook: null,
          findings: [...redirected, finding("error", "", code, message)],
        });
      if (fault || !body) return unusable(fault?.code ?? "status", fault?.message ?? "there is no manifest");
      const manifest = parseJsonBytes(body);
      if (manifest === undefined) return unusable("not_json", "the response is not JSON");
      const checked = await report(domain, manifest, options);
      return ok({ ...head, ...checked, findings: [...redirected, ...checked.findings] });
    },

    /** Checks a manifest that is passed in, as if the domain had served it. */
    async given(
      text: string,
      manifest: unknown,
      options: ManifestOptions,
    ): Promise<Result<ManifestReport, ManifestRefusal>> {
      const domain = hostnameOf(text);
      if (domain === undefined) return err("domain");
      const checked = await report(domain, manifest, options);
      return ok({
        domain,
        fetchedAt: nowSecs(clock),
        status: null,
        redirectedTo: null,
        ...checked,
      });
    },
  };
}

/** Returns the host name of a domain that has no port. Undefined for any other text. */
function hostnameOf(text: string): string | undefined {
  const domain = normalizeDomain(text);
  return domain !== undefined && HOST.test(domain) && !ADDRESS.test(domain) ? domain : undefined;
}

function webhookFindings({ isThisNode, appId }: ManifestWebhook, path: string): Finding[] {
  if (!isThisNode)
    return [
      finding(
        "info",
        `${path}.webhookUrl`,
        "other_node",
        "token events go elsewhere: this node cannot send for the app",
      ),
    ];
  return appId === null
    ? [finding("error", `${path}.webhookUrl`, "unknown_app", "names no app that is registered here")]
    : [];
}
