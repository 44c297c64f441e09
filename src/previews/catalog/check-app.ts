import { parseJsonBytes } from "../../lib/json.ts";
import type { OutboundClient } from "../../net/client.ts";
import type { EnvelopeChecker } from "../../sign-in/manifest/envelope.ts";
import { fetchManifest } from "../../sign-in/manifest/fetch-manifest.ts";
import { readManifest } from "../../sign-in/manifest/findings.ts";
import type { CheckedManifest } from "./catalog-store.ts";

const MAX_MANIFEST_CHARS = 64 * 1024;
const NONE: CheckedManifest = { manifest: null, authorFid: null, isHidden: false };

/** Creates the check of a domain's manifest. The author is the fid that signed it for this domain, as in `svc manifest check`. */
export function createAppCheck({
  client,
  envelopes,
}: {
  readonly client: OutboundClient;
  readonly envelopes: EnvelopeChecker;
}): (domain: string) => Promise<CheckedManifest | undefined> {
  return async (domain) => {
    const { body, status } = await fetchManifest(client, domain, "catalog");
    if (!body) return status === undefined ? undefined : NONE;
    const manifest = body.length > MAX_MANIFEST_CHARS ? undefined : parseJsonBytes(body);
    if (typeof manifest !== "object" || manifest === null) return NONE;
    const { association, app, findings } = readManifest(manifest, domain);
    const isBroken = findings.some(
      ({ severity, path }) => severity === "error" && /^(?:miniapp|frame)/.test(path),
    );
    const verdict = association
      ? await envelopes.check(association, {
          domain,
          types: ["custody", "auth"],
          acceptsVerification: false,
          client: "catalog",
        })
      : undefined;
    return {
      manifest: app && !isBroken && app.noindex !== true ? manifest : null,
      authorFid: verdict?.valid ? verdict.fid : null,
      isHidden: app?.noindex === true,
    };
  };
}
