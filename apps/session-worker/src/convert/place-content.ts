/** Places and contact cards. */
import type { ContactContent, LiveLocationContent, LocationContent } from '@dormouse/gateway-contract';
import type { proto } from '@whiskeysockets/baileys';
import { present, toNumber, toPreview } from './present.js';

export function locationContent(place: proto.Message.ILocationMessage): LocationContent {
  return {
    latitude: place.degreesLatitude ?? 0,
    longitude: place.degreesLongitude ?? 0,
    ...present<Partial<LocationContent>>({
      name: place.name,
      address: place.address,
      url: place.url,
      comment: place.comment,
      accuracy: place.accuracyInMeters || undefined,
      preview: toPreview(place.jpegThumbnail),
    }),
  };
}

export function liveLocationContent(live: proto.Message.ILiveLocationMessage): LiveLocationContent {
  return {
    latitude: live.degreesLatitude ?? 0,
    longitude: live.degreesLongitude ?? 0,
    ...present<Partial<LiveLocationContent>>({
      caption: live.caption,
      accuracy: live.accuracyInMeters,
      speed: live.speedInMps === null || live.speedInMps === undefined ? undefined : Math.round(live.speedInMps),
      degrees: live.degreesClockwiseFromMagneticNorth,
      sequence_number: toNumber(live.sequenceNumber),
      time_offset: live.timeOffset,
      preview: toPreview(live.jpegThumbnail),
    }),
  };
}

export function contactContent({ displayName, vcard }: proto.Message.IContactMessage): ContactContent {
  return present<ContactContent>({ name: displayName, vcard });
}
