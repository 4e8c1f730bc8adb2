// A NIC health monitor for Node with @grpc/grpc-js and @grpc/proto-loader.
//
// Usage: monitor.js PROTO ROOT SOCKET NODE. It polls for ever: it reads the ports below ROOT, and reports each change
// over the unix socket SOCKET, one call per check. An event that was not accepted is sent again in the next poll.
"use strict";

const fs = require("node:fs/promises");
const grpc = require("@grpc/grpc-js");
const protoLoader = require("@grpc/proto-loader");

const [proto, root, socket, nodeName] = process.argv.slice(2);
const { datamodels } = grpc.loadPackageDefinition(protoLoader.loadSync(proto, { keepCase: true }));
const connector = new datamodels.PlatformConnector(`unix://${socket}`, grpc.credentials.createInsecure());

const folder = `${root}/sys/class/infiniband`;
const checks = { InfiniBand: "InfiniBandStateCheck", Ethernet: "EthernetStateCheck" };
const severities = ["healthy", "nonfatal", "fatal"];

const read = async (path) => (await fs.readFile(`${folder}/${path}`, "utf8")).trim();
const list = async (path) => (await fs.readdir(`${folder}/${path}`).catch(() => [])).sort();
const exists = (path) => fs.access(`${folder}/${path}`).then(() => true, () => false);

// An NVIDIA function that is neither virtual nor the node's own way out.
async function isMonitored(device) {
  const vendor = await read(`${device}/device/vendor`);
  const numaNode = await read(`${device}/device/numa_node`);
  const routes = (await fs.readFile(`${root}/proc/net/route`, "utf8")).split("\n").map((line) => line.split(/\s+/));
  const wayOut = routes.filter(([, to]) => to === "00000000").map(([name]) => name);
  const netdevs = await list(`${device}/device/net`);
  const isWayOut = netdevs.some((name) => wayOut.includes(name));
  return vendor === "0x15b3" && numaNode !== "-1" && !(await exists(`${device}/device/physfn`)) && !isWayOut;
}

// How bad a port is; undefined if it is unhealthy in a way that is not reported.
function judge(layer, state, phys) {
  if (state === "ACTIVE" && phys === "LinkUp") return "healthy";
  if (layer === "Ethernet") return state === "DOWN" ? "fatal" : undefined;
  return state === "DOWN" || phys === "Disabled" ? "fatal" : "nonfatal";
}

const devices = new Map(); // name -> { layer, gone, reported: Map of port -> severity }
const ignored = new Set();

async function poll() {
  const events = [];
  const listed = await list("");
  for (const [name, device] of devices) {
    if (listed.includes(name) || device.gone) continue;
    device.gone = true;
    events.push({ layer: device.layer, entities: [name], severity: "fatal", message: `${name} has disappeared` });
  }
  for (const name of listed) {
    try {
      if (!devices.has(name) && !ignored.has(name) && !(await isMonitored(name))) ignored.add(name);
      if (!ignored.has(name)) events.push(...(await pollDevice(name)));
    } catch (error) {
      console.error(error.message); // what cannot be read tells nothing
    }
  }
  return events;
}

async function pollDevice(name) {
  const ports = [];
  for (const port of await list(`${name}/ports`)) {
    const file = (file) => read(`${name}/ports/${port}/${file}`);
    const layer = await file("link_layer");
    const [state, phys] = [await file("state"), await file("phys_state")].map((text) => text.split(": ")[1]);
    const message = `${name} port ${port} is ${state}, ${phys}`;
    ports.push({ layer, entities: [name, port], severity: judge(layer, state, phys), message });
  }
  if (ports.length === 0) return [];
  const { layer } = ports[0];
  if (!devices.has(name)) devices.set(name, { layer, gone: false, reported: new Map() });
  const device = devices.get(name);
  const events = [];
  if (device.gone) {
    if (ports.some((port) => port.severity !== "healthy")) return [];
    device.gone = false;
    device.reported.clear();
    events.push({ layer, entities: [name], severity: "healthy", message: `${name} is back` });
  }
  for (const port of ports) {
    const before = device.reported.get(port.entities[1]);
    const worse = before !== undefined && severities.indexOf(port.severity) > severities.indexOf(before);
    if (worse || (port.severity === "healthy" && before !== "healthy")) {
      device.reported.set(port.entities[1], port.severity);
      events.push(port);
    }
  }
  return events;
}

function message({ layer, entities, severity, message }, number) {
  const now = Date.now();
  return {
    version: 1,
    agent: "nic-health-monitor",
    componentClass: "NIC",
    checkName: checks[layer],
    isFatal: severity === "fatal",
    isHealthy: severity === "healthy",
    message,
    recommendedAction: severity === "fatal" ? "REPLACE_VM" : "NONE",
    entitiesImpacted: entities.map((value, place) => ({ entityType: ["NIC", "NICPort"][place], entityValue: value })),
    generatedTimestamp: { seconds: Math.floor(now / 1000), nanos: (now % 1000) * 1000000 + number },
    nodeName,
    processingStrategy: "EXECUTE_REMEDIATION",
  };
}

const send = (events) =>
  new Promise((accepted) => {
    const batch = { version: 1, events: events.map(message) };
    connector.HealthEventOccurredV1(batch, { deadline: Date.now() + 10000 }, (error) => {
      if (error) console.error(error.message);
      accepted(!error);
    });
  });

async function main() {
  let pending = [];
  for (;;) {
    pending.push(...(await poll()));
    for (const layer of Object.keys(checks)) {
      const events = pending.filter((event) => event.layer === layer);
      if (events.length > 0 && (await send(events))) pending = pending.filter((event) => event.layer !== layer);
    }
    await new Promise((done) => setTimeout(done, 1));
  }
}

main();
