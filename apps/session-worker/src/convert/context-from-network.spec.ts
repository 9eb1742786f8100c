import type { proto } from '@whiskeysockets/baileys';
import { shownMessage } from './test-messages.js';

const context = (contextInfo: proto.IContextInfo) =>
  shownMessage({ extendedTextMessage: { text: 'x', contextInfo } })?.context;
const conversionData = Buffer.from('opaque');

describe('what led to a conversation', () => {
  it('is reported without the advertisement, too', () => {
    const shown = context({
      conversionSource: 'FB_Ads',
      conversionData,
      conversionDelaySeconds: 12,
      entryPointConversionSource: 'ctwa_ad',
      entryPointConversionApp: 'instagram',
    });
    expect(shown).toEqual({ conversion: { source: 'FB_Ads', data: conversionData.toString('base64'), delay: 12 } });
    expect(context({ entryPointConversionSource: 'ctwa_ad', entryPointConversionDelaySeconds: 3 })).toEqual({
      conversion: { source: 'ctwa_ad', delay: 3 },
    });
  });

  it('is reported with all that is known of the advertisement', () => {
    const externalAdReply = {
      title: 'Shoes',
      body: 'Half price',
      mediaType: 2,
      thumbnailUrl: 'https://ad.example/small',
      mediaUrl: 'https://ad.example/film',
      thumbnail: Buffer.from([255, 216]),
      sourceType: 'ad',
      sourceId: '120',
      sourceUrl: 'https://fb.me/1',
      containsAutoReply: true,
      showAdAttribution: true,
      ctwaClid: 'clid',
      ref: 'spring',
    };
    expect(context({ externalAdReply, conversionSource: 'FB_Ads', conversionData })).toEqual({
      ad: {
        title: 'Shoes',
        body: 'Half price',
        media_type: 'video',
        media_url: 'https://ad.example/film',
        preview: 'data:image/jpeg;base64,/9g=',
        preview_url: 'https://ad.example/small',
        source: { id: '120', type: 'ad', url: 'https://fb.me/1' },
        ctwa: 'clid',
        ref: 'spring',
        auto_reply: true,
        attrib: true,
      },
      conversion: { source: 'FB_Ads', data: conversionData.toString('base64') },
    });
  });

  it('is reported for an advertisement that is quoted', () => {
    expect(context({ quotedAd: { advertiserName: 'Shop', mediaType: 1, caption: 'Half price' } })?.ad).toEqual({
      advertiser_name: 'Shop',
      media_type: 'image',
      body: 'Half price',
    });
  });

  it('is nothing for a preview of a link', () => {
    expect(context({ externalAdReply: { title: 'A page', mediaUrl: 'https://page.example' } })).toBeUndefined();
  });
});

it('names the groups that a message mentions', () => {
  const groupMentions = [{ groupJid: '120363000000000001@g.us', groupSubject: 'Sales' }];
  expect(context({ groupMentions })?.mentions).toEqual(['120363000000000001@g.us']);
});
