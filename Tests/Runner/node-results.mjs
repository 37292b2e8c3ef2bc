/** A reporter for Node's test runner that writes what each test does, as it happens, a line of JSON each. */
export default async function* (events) {
  for await (const { type, data } of events) {
    if (type === "test:dequeue") yield `${JSON.stringify({ began: data.name, depth: data.nesting })}\n`;
    if (type !== "test:pass" && type !== "test:fail") continue;
    const error = data.details.error;
    // Those within it are told themselves.
    if (error?.failureType === "subtestsFailed") continue;
    const cause = error?.cause ?? error;
    yield `${JSON.stringify({
      ended: data.name,
      depth: data.nesting,
      seconds: data.details.duration_ms / 1000,
      passed: type === "test:pass",
      output: error ? String(cause?.stack ?? cause) : "",
    })}\n`;
  }
}
