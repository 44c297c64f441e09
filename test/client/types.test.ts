import { expect, test } from "bun:test";
import type { SvcClient } from "../../client/src/index.ts";

/** What the types of the client refuse. `tsc` fails where a line is not an error, and where one without the mark is. */
async function refusedByTypes(client: SvcClient): Promise<unknown> {
  const { data } = await client.GET("/v2/svc/feed/trending", { params: { query: { limit: 5 } } });
  const first: string | undefined = data?.casts[0]?.hash;
  await client.GET("/v2/svc/feed/trending");
  // @ts-expect-error an optional parameter with a mistyped name
  await client.GET("/v2/svc/feed/trending", { params: { query: { limt: 5 } } });
  // @ts-expect-error a mistyped name beside a required parameter
  await client.GET("/v2/svc/user", { params: { query: { fid: 3, viewer: 5 } } });
  // @ts-expect-error a parameter of another type
  await client.GET("/v2/svc/user", { params: { query: { fid: "3" } } });
  // @ts-expect-error a required parameter is missing
  await client.GET("/v2/svc/user");
  // @ts-expect-error a mistyped option
  await client.GET("/v2/svc/feed/trending", { query: { limit: 5 } });
  const body = { name: "Bread", app_url: "https://bread.example" };
  // @ts-expect-error a field that the body does not have
  await client.POST("/v2/svc/frame/app", { body: { ...body, nam: "" } });
  // @ts-expect-error a path that does not exist
  await client.GET("/v2/svc/nothing");
  // @ts-expect-error a method that the path does not have
  await client.DELETE("/v2/svc/user");
  return first;
}

test("the compiler refuses names that the API does not have, of optional parameters, too", () => {
  // `bun run check` compiles the function; nothing calls it.
  expect(refusedByTypes).toBeFunction();
});
