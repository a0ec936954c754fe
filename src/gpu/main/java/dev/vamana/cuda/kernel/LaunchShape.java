package dev.vamana.cuda.kernel;

/** The properties that items must share to be launched together; items of equal shape can be. */
public sealed interface LaunchShape permits WalkShape, ListSearchShape {}
