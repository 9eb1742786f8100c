import { GatewayError } from '@dormouse/gateway-contract';
import type { Installation } from '@dormouse/management-contract';
import { Controller, Get, Inject } from '@nestjs/common';
import { SignIn } from '../users/sign-in.js';
import { INSTALLATION_FACTS } from '../services.js';

/** What pages are given beside how people sign in; the operator's settings. */
export type InstallationFacts = Omit<Installation, 'sign_in'>;

@Controller('installation')
export class InstallationController {
  constructor(
    private readonly signIn: SignIn,
    @Inject(INSTALLATION_FACTS) private readonly facts: InstallationFacts,
  ) {}

  @Get()
  installation(): Installation {
    return { ...this.facts, sign_in: this.#waysToSignIn() };
  }

  #waysToSignIn(): Installation['sign_in'] {
    try {
      return this.signIn.options();
    } catch (error) {
      // Nobody can sign in: keys are all there is.
      if (error instanceof GatewayError) return { sign_up: false };
      throw error;
    }
  }
}
