import { expect, test } from "bun:test";
import { DELIVERY_AT_REST, deliveryFigures } from "../../../src/webhooks/deliver/delivery-figures.ts";

const attempts = [
  { response: "http_2xx", outcome: "delivered", count: 7 },
  { response: "http_5xx", outcome: "retry", count: 2 },
  { response: "timeout", outcome: "retry", count: 3 },
];
const stats = { ...DELIVERY_AT_REST, attempts, oldestDueMs: 2_400 };

test("the history counts all attempts, and its lane counts them by outcome", () => {
  const lane = deliveryFigures.find((one) => one.lane?.name === "deliveries")?.lane;
  expect(lane?.read(stats)).toEqual({ delivered: 7, retry: 5 });
  const series = deliveryFigures.find((one) => one.series?.name === "deliveries_per_second")?.series;
  expect(series?.read(stats)).toBe(12);
});

test("the age of the oldest due delivery is in seconds", () => {
  const figure = deliveryFigures.find((one) => one.metric?.name === "webhook_oldest_due_seconds");
  expect(figure?.metric?.samples(stats)).toEqual([[{}, 2.4]]);
  expect(figure?.status?.read(stats)).toBe(2);
});

test("a thread that has not started reports no pressure", () => {
  const figure = deliveryFigures.find((one) => one.metric?.name === "webhook_backpressure");
  expect(figure?.metric?.samples(DELIVERY_AT_REST)).toEqual([[{}, 0]]);
});
