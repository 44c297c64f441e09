import { expect, test } from "bun:test";
import { serviceNames } from "../../src/config/names.ts";

test("every name of the service follows from the one setting", () => {
  expect(serviceNames("svc")).toEqual({
    segment: "svc",
    basePath: "/v2/svc",
    capitalised: "Svc",
    headerPrefix: "X-Svc-",
    metricPrefix: "svc_",
    domainName: "Svc",
    signedOpType: "SvcSignedOp",
  });
});
