/** The part of `sdk.context` of the Mini App SDK that is read. */
export interface OpenContext {
  readonly user: { readonly fid: number };
  readonly client: { readonly clientFid: number };
}

export interface ReportOpenOptions {
  /** URL of the node that sent the notification. */
  readonly baseUrl: string;
  readonly appId: string;
  readonly context: OpenContext;
  /** What the user did next. Report it in a separate call. */
  readonly goal?: string;
  /** A Quick Auth token of the node. With it, the open counts as verified. */
  readonly token?: string;
  /** URL that the client opened. Default: the URL of the page. */
  readonly url?: string;
  /** `service.name` of the node. Default: `svc`. */
  readonly service?: string;
}

/**
 * Reports that the user opened the page from a notification of the app, for the results of the send. Never rejects, because an app has to
 * work without its node.
 * @returns whether the node accepted the report; false if the page was not opened from a notification
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
    // Sent as text, which needs no preflight, and with `keepalive`, so that it outlives the page.
    const body = JSON.stringify(report);
    const target = `${baseUrl.replace(/\/+$/, "")}/v2/${service}/frame/app/open`;
    return (await fetch(target, { method: "POST", keepalive: true, body })).ok;
  } catch {
    return false;
  }
}

const pageUrl = () => (globalThis as { readonly location?: { readonly href: string } }).location?.href ?? "";
