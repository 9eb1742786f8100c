import { requirePublicWebhooks } from './webhook-address.js';

const setting = (url: string) => ({
  webhooks: [{ url, mode: 'body' as const, events: [{ type: 'messages' as const, method: 'post' as const }] }],
});

describe('requirePublicWebhooks', () => {
  it.each([
    'http://localhost/x',
    'https://a.localhost',
    'http://printer.local',
    'http://127.0.0.1:8080',
    'http://127.1',
    'http://0x7f000001/',
    'http://10.1.2.3',
    'http://172.31.0.1',
    'http://192.168.1.1',
    'http://169.254.169.254/latest/meta-data',
    'http://100.64.0.1',
    'http://[::1]',
    'http://[::ffff:127.0.0.1]',
    'http://[fd00::1]',
    'http://[fe80::1]',
    'http://0.0.0.0',
    'http://017700000001/',
    'http://2130706433/',
    'http://127.0.0.1./',
    'http://\uff11\uff12\uff17.0.0.1/',
    'http://[::127.0.0.1]',
    'http://[64:ff9b::7f00:1]',
    'http://[64:ff9b:1::a00:1]',
    'http://[2002:7f00:1::]',
    'http://[2001:0:4136:e378:8000:63bf:3fff:fdd2]',
    'http://[::ffff:0:127.0.0.1]',
    'http://[4000::1]',
    'http://[fd00:ec2::254]',
    'http://168.63.129.16/',
    'http://100.100.100.200/latest/meta-data',
    'http://metadata.google.internal./',
    'http://router.home.arpa',
  ])('refuses %s', (url) => {
    expect(() => requirePublicWebhooks(setting(url))).toThrow('bad request');
  });

  it.each(['https://hooks.example.com/wa', 'http://8.8.8.8', 'http://[2001:4860:4860::8888]/', 'http://172.32.0.1'])(
    'lets %s pass',
    (url) => expect(() => requirePublicWebhooks(setting(url))).not.toThrow(),
  );

  it('has nothing against a patch without webhooks', () => {
    expect(() => requirePublicWebhooks({})).not.toThrow();
  });
});
