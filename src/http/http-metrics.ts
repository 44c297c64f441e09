import { Counter, Histogram } from "prom-client";
import type { Metrics } from "../app/metrics.ts";

/** Counts an answer. `route` is the template, so that the number of series has a bound. */
export type ObserveAnswer = (method: string, route: string, status: number, seconds: number) => void;

const buckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** A client chooses the method, so all but the usual ones share one label. */
const labelledMethods = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

export function createHttpMetrics({ registry, prefix }: Metrics): ObserveAnswer {
  const requests = new Counter({
    name: `${prefix}http_requests_total`,
    help: "Answered HTTP requests",
    labelNames: ["method", "route", "status"],
    registers: [registry],
  });
  const durations = new Histogram({
    name: `${prefix}http_request_duration_seconds`,
    help: "Time from the arrival of a request's headers to its answer",
    labelNames: ["method", "route"],
    buckets,
    registers: [registry],
  });

  return (method, route, status, seconds) => {
    const label = labelledMethods.has(method) ? method : "other";
    requests.inc({ method: label, route, status }, 1);
    durations.observe({ method: label, route }, seconds);
  };
}
