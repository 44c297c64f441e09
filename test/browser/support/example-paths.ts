import { pages } from "../../../src/console/web/routes.ts";

/** A page of the table, with a path of the demo network that shows it. */
export interface ExamplePage {
  /** As in the table: `/console/casts/:hash`. */
  readonly template: string;
  readonly path: string;
}

/** Somebody and a channel that every demo network has. */
const PERSON = "3";
const CHANNEL = "coffee";
/** Without a text the page of the search shows hints. */
const SEARCH = "?q=bread";
/** Pages of an owner offer to connect, whatever the record is. */
const WEBHOOK = "081ca7f8-b831-485e-8b7e-e3fab61fb56f";

/**
 * Returns every page of the console with an example.
 * @throws Error for a page with a parameter that has none: add it here.
 */
export async function examplePages(origin: string): Promise<ExamplePage[]> {
  const response = await fetch(`${origin}/v2/svc/feed/trending?limit=1`);
  const { casts } = (await response.json()) as { casts: readonly { hash: string }[] };
  const examples: Readonly<Record<string, string | undefined>> = {
    "/console/people/:who": PERSON,
    "/console/casts/:hash": casts[0]?.hash,
    "/console/channels/:id": CHANNEL,
    // The page of somebody who has not connected.
    "/console/manage/keys/:id": "1111111111111111",
    "/console/manage/login/:id": WEBHOOK,
    "/console/manage/apps/:id": "1111111111111111",
    "/console/manage/apps/:id/schedules/:schedule": "1111111111111111",
    "/console/manage/campaigns/:id": "0b6d9d1e-4b7c-4a3f-9a51-1f6f0c7c2a10",
    "/console/manage/webhooks/:id": WEBHOOK,
    "/console/manage/webhooks/:id/:message": WEBHOOK,
  };
  return pages.map(({ path: template }) => {
    const path = template.replaceAll(/:\w+/g, (parameter) => {
      const example = examples[template];
      if (!example) throw new Error(`${template} needs an example of ${parameter}`);
      return example;
    });
    return { template, path: template === "/console/search" ? path + SEARCH : path };
  });
}
