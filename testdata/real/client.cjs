// A client made with the official TypeScript SDK. It uses the server of
// served.sns and prints what it gets:
//   node client.cjs stdio COMMAND ARGUMENT...
//   node client.cjs http URL TOKEN
const { Client } = require("@modelcontextprotocol/sdk/client/index.js");
const { StdioClientTransport } = require("@modelcontextprotocol/sdk/client/stdio.js");
const { StreamableHTTPClientTransport } = require("@modelcontextprotocol/sdk/client/streamableHttp.js");
const { ElicitRequestSchema } = require("@modelcontextprotocol/sdk/types.js");

const [kind, ...rest] = process.argv.slice(2);
const transport =
  kind === "stdio"
    ? new StdioClientTransport({ command: rest[0], args: rest.slice(1), stderr: "inherit" })
    : new StreamableHTTPClientTransport(new URL(rest[0]), { requestInit: { headers: { Authorization: "Bearer " + rest[1] } } });

const show = (name, r) =>
  console.log(name, r.isError ? "error" : "ok", r.content.map((b) => (b.type === "text" ? b.text : `[${b.type} ${b.mimeType}]`)).join("|"));

async function main() {
  const client = new Client({ name: "typescript", version: "1" }, { capabilities: { elicitation: {} } });
  client.setRequestHandler(ElicitRequestSchema, async (r) => {
    console.log("asked", r.params.message.split("\n")[0]);
    const approval = "approve" in r.params.requestedSchema.properties;
    return { action: "accept", content: approval ? { approve: true, reason: "why not" } : { answer: "Zoë" } };
  });
  await client.connect(transport);
  const { tools } = await client.listTools();
  console.log("tools", tools.map((t) => t.name).join(" "));
  console.log("add", tools.find((t) => t.name === "add").description, JSON.stringify(tools.find((t) => t.name === "add").inputSchema.required));
  show("add", await client.callTool({ name: "add", arguments: { a: 41 } }));
  show("add", await client.callTool({ name: "add", arguments: { a: "x" } }));
  const info = await client.callTool({ name: "info", arguments: { name: "Zoë" } });
  show("info", info);
  console.log("structured", info.structuredContent.name, info.structuredContent.tags.length, info.structuredContent.n);
  show("picture", await client.callTool({ name: "picture", arguments: {} }));
  show("order", await client.callTool({ name: "order", arguments: { what: "tea" } }));
  show("remove", await client.callTool({ name: "remove", arguments: { path: "a" } }));
  const { id } = (await client.callTool({ name: "prepare_greet", arguments: { who: "Ann" } })).structuredContent;
  for (const step of ["commit_action", "approve_action", "commit_action", "rollback_action"]) {
    const r = await client.callTool({ name: step, arguments: { id } });
    console.log(step, r.isError ? "error" : "ok", r.isError ? r.content[0].text : r.structuredContent.state + " " + r.structuredContent.approved);
  }
  if (kind === "http") await transport.terminateSession();
  await client.close();
}

main().catch((e) => {
  console.error(e);
  process.exit(1);
});
