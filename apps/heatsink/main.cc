// SPDX-License-Identifier: Apache-2.0
// heatsink VERB: finds the verb and hands over.
int main() { return 0; }
