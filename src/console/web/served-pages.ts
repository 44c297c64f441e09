import type { PageSettings } from "./page-settings.ts";

const isWithin = (path: string, parent: string) => path === parent || path.startsWith(`${parent}/`);

/** Whether a node with these settings has a page of the table; of others it says 404. Used by the server and by the page. */
export function isPageServed(
  path: string,
  { manage, operator, stream }: Pick<PageSettings, "manage" | "operator" | "stream">,
): boolean {
  if (isWithin(path, "/console/manage")) return manage;
  if (isWithin(path, "/console/operator")) return operator;
  return stream || !isWithin(path, "/console/stream");
}
