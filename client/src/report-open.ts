/** What `sdk.context` of the Mini App SDK says; the rest of it is not read. */
export interface OpenContext {
  readonly user: { readonly fid: number };
  readonly client: { readonly clientFid: number };
}

export interface ReportOpenOptions {
  /** The node that sent the notification. */
  readonly baseUrl: string;
  readonly appId: string;
  readonly context: OpenContext;
  /** What the user did next, reported by a call of its own. */
  readonly goal?: string;
  /** A Quick Auth token of the node, which makes the open a verified one. */
  readonly token?: string;
  /** The URL that the client opened; that of the page by default. */
  readonly url?: string;
  /** `service.name` of the node; `svc` by default. */
  readonly service?: string;
}

/**
 * Reports that the user opened the page by a notification of the app, for the results of the send. Never rejects: an app works without
 * its node.
 * @returns whether the node has taken the report; false for a page that no notification opened
 */
export async function reportOpen(options: ReportOpenOptions): Promise<boolean> {
  const { baseUrl, appId, context, goal, token, url = pageUrl(), service = "svc" } = options;
  try {
    const open = new URL(url).searchParams.get(`${service}_open`);
    if (!open) return false;
    const report = {
      app_id: appId,
      open,
      fid: context.user.fid,
      client_fid: context.client.clientFid,
      zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
      goal,
      token,
    };
    // As text, which needs no preflight; it outlives the page.
    const body = JSON.stringify(report);
    const target = `${baseUrl.replace(/\/+$/, "")}/v2/${service}/frame/app/open`;
    return (await fetch(target, { method: "POST", keepalive: true, body })).ok;
  } catch {
    return false;
  }
}

const pageUrl = () => (globalThis as { readonly location?: { readonly href: string } }).location?.href ?? "";
