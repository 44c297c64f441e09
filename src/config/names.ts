/** Names that are derived from the service's name (`service.name`). */
export interface ServiceNames {
  /** Path segment, as in `/v2/<segment>/user`. */
  readonly segment: string;
  /** The base path of the API: `/v2/<segment>`. */
  readonly basePath: string;
  /** The name with an uppercase first letter. */
  readonly capitalised: string;
  /** The prefix of the service's own headers, as in `X-Svc-Fid`. */
  readonly headerPrefix: string;
  /** The prefix of metric names. */
  readonly metricPrefix: string;
  /** The `name` of the EIP-712 domain. */
  readonly domainName: string;
  /** Primary type of a signed operation. */
  readonly signedOpType: string;
}

/** Returns the base path of the API for a path segment. */
export function basePathOf(segment: string): string {
  return `/v2/${segment}`;
}

export function serviceNames(name: string): ServiceNames {
  const capitalised = name.charAt(0).toUpperCase() + name.slice(1);
  return {
    segment: name,
    basePath: basePathOf(name),
    capitalised,
    headerPrefix: `X-${capitalised}-`,
    metricPrefix: `${name}_`,
    domainName: capitalised,
    signedOpType: `${capitalised}SignedOp`,
  };
}

/** The prefix of environment variables for settings. */
export const ENV_PREFIX = "SVC_";

/** Returns the environment variable of a setting: `SVC_HTTP_PORT` for `http.port`. */
export function variableOf(key: string): string {
  return `${ENV_PREFIX}${key.replace(".", "_").toUpperCase()}`;
}

/** The tools of `/mcp`, in the order of the list. The last four write. */
export const MCP_TOOLS = [
  "get_user",
  "search_users",
  "get_relations",
  "get_cast",
  "get_thread",
  "search_casts",
  "get_feed",
  "get_notifications",
  "list_channels",
  "get_channel",
  "get_node",
  "explain_call",
  "publish_cast",
  "delete_cast",
  "react",
  "follow",
] as const;
