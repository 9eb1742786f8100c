/** `npm run sandbox`: Dormouse with a simulated network, a linked channel and two phones to talk to. */
import { readCommandLine } from './command-line.js';
import { addressRows, launch, type LaunchedStack, readOrExit, table } from './launcher.js';
import { ensureGift, ensureOwner } from '../launch/accounts-and-money.js';
import { prepareSandbox, type SandboxWorld } from './sandbox-world.js';
import { shownCodesOf } from './shown-codes.js';
import { serveWaitingLogins } from './waiting-logins.js';

const options = readOrExit(() => readCommandLine(process.argv.slice(2), 'sandbox'));

function machineLine(stack: LaunchedStack, world: SandboxWorld): string {
  const buckets = stack.regions.map((code) => {
    const { endpoint, bucket } = stack.objects[code];
    return [code, { endpoint, bucket }];
  });
  return JSON.stringify({
    ready: true,
    edge: stack.urls.edge,
    controlPlane: stack.urls.controlPlane,
    docs: `${stack.urls.controlPlane}/docs`,
    simulator: stack.urls.simulator,
    accountKey: stack.accountKey,
    channel: world.channel,
    phones: world.phones,
    processes: stack.processes,
    databases: stack.databases,
    redis: stack.redis,
    objects: Object.fromEntries(buckets) as object,
    regions: stack.regions,
    dashboard: stack.urls.controlPlane,
    mail: stack.urls.mail,
    billing: stack.urls.billing,
    stripe: { url: stack.urls.stripe, secretKey: stack.installation.facts.secrets.simulatedStripe.secretKey },
    user: stack.installation.facts.user,
  });
}

function guide(stack: LaunchedStack, world: SandboxWorld): string {
  const edge = stack.urls.edge[stack.regions[0]];
  const simulator = stack.urls.simulator ?? '';
  const [fred = '', nora = ''] = world.phones;
  const token = `-H 'Authorization: Bearer ${world.channel.token}'`;
  const json = `-H 'Content-Type: application/json'`;
  return `
The sandbox is ready.

${table([
  ...addressRows(stack),
  ['Channel', `${world.channel.id}, linked to ${world.channel.phone}`],
  ['Channel token', world.channel.token],
  ['Phones to talk to', world.phones.join('  ')],
  ['User', `${stack.installation.facts.user.email}  ${stack.installation.facts.user.password}`],
  ['Data', options.dataDir],
])}

Send a text, and see it on the phone:

  curl -s ${edge}/messages/text ${token} ${json} -d '{"to":"${fred}","body":"Hello"}'
  curl -s ${simulator}/phones/${fred}/messages

Let a phone answer, and see it in the gateway:

  curl -s ${simulator}/phones/${nora}/messages ${json} -d '{"to":"${world.channel.phone}","text":"Hi"}'
  curl -s ${edge}/messages/list ${token}

Have it delivered to a webhook (your server at port 9000):

  curl -s -X PATCH ${edge}/settings ${token} ${json} \\
    -d '{"webhooks":[{"url":"http://127.0.0.1:9000/","events":[{"type":"messages","method":"post"},{"type":"statuses","method":"post"}]}]}'

Log the channel out, then link it again from the page of the phones (Scan code lists it):

  curl -s -X POST ${edge}/users/logout ${token}

Ctrl-C stops everything; --fresh begins anew.
`;
}

const waitingLogins = await serveWaitingLogins();
const announce = async (stack: LaunchedStack): Promise<void> => {
  const { accountId, user } = stack.installation.facts;
  const [world] = await Promise.all([
    prepareSandbox(stack),
    ensureOwner(stack.databases.global, { ...user, accountId }),
    ensureGift(stack.databases.global, accountId),
  ]);
  const { id, token } = world.channel;
  waitingLogins.offer({ name: `Sandbox (${id})`, edgeUrl: stack.urls.edge[stack.regions[0]], token });
  for (const code of stack.regions) {
    const codes = shownCodesOf({ databaseUrl: stack.databases[code], redisUrl: stack.redis[code] });
    waitingLogins.offerAll(() => codes.list());
  }
  process.stdout.write(options.json ? `${machineLine(stack, world)}\n` : guide(stack, world));
};
await launch(options, 'simulator', announce, { 'network-simulator': { WAITING_LOGINS_URL: waitingLogins.url } });
