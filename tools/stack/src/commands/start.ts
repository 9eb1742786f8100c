/** `npm start`: Dormouse on this machine, talking to the real network. */
import { readCommandLine } from './command-line.js';
import { firstOwnerLink } from '../launch/accounts-and-money.js';
import { addressRows, launch, readOrExit, table } from './launcher.js';

const options = readOrExit(() => readCommandLine(process.argv.slice(2), 'start'));

await launch(options, 'real', async (stack) => {
  const { edge, controlPlane } = stack.urls;
  const [region] = stack.regions;
  const { accountId } = stack.installation.facts;
  const link = await firstOwnerLink(stack.databases.global, stack.publicUrl, accountId);
  process.stdout.write(`
Dormouse is ready.

${table([...addressRows(stack), ['Data', options.dataDir]])}

Next: create a channel, then open its login image and scan it with a phone (Linked devices, Link a device).

  curl -s ${controlPlane}/api/v1/channels -H 'Authorization: Bearer ${stack.accountKey}' \\
    -H 'Content-Type: application/json' -d '{"name":"My number","region":"${region}"}'
  ${edge[region]}/users/login/image?token=<the token in the answer>
${link === undefined ? '' : `\nSet a password for the first owner, once and within a day:\n\n  ${link}\n`}
Ctrl-C stops everything; the next start finds channels still linked.
`);
});
